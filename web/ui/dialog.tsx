import { Drawer, type DrawerProps, Modal, type ModalProps } from '@mantine/core'
import { createContext, useContext, useEffect, useId, useState, useSyncExternalStore } from 'react'

/** Ids of what is open, the topmost last. Escape closes that one only. */
let open: readonly string[] = []
const listeners = new Set<() => void>()

function setOpen(next: readonly string[]): void {
  open = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Whether nothing else lies over the dialog. */
function useTopmost(opened: boolean): boolean {
  const id = useId()
  useEffect(() => {
    if (!opened) return
    setOpen([...open, id])
    return () => setOpen(open.filter((each) => each !== id))
  }, [opened, id])
  return useSyncExternalStore(subscribe, () => open.at(-1) === id)
}

const BusyContext = createContext<(busy: boolean) => void>(() => undefined)

/** Keeps the dialog around open while something is under way in it, whose outcome nobody would see otherwise. */
export function useBusyDialog(busy: boolean): void {
  const tell = useContext(BusyContext)
  useEffect(() => {
    if (!busy) return
    tell(true)
    return () => tell(false)
  }, [busy, tell])
}

function useClosing(opened: boolean, closeOnEscape = true) {
  const topmost = useTopmost(opened)
  const [busy, setBusy] = useState(false)
  return { busy, setBusy, closeOnEscape: closeOnEscape && topmost && !busy }
}

/** A dialog that asks for something. A click beside it does not close it: what was typed would be lost. */
export function Dialog({ children, closeOnEscape, withCloseButton = true, ...props }: ModalProps) {
  const { busy, setBusy, ...closing } = useClosing(props.opened, closeOnEscape)
  return (
    <Modal closeOnClickOutside={false} {...props} {...closing} withCloseButton={withCloseButton && !busy}>
      <BusyContext value={setBusy}>{children}</BusyContext>
    </Modal>
  )
}

/** Details at the right of a page. */
export function SidePanel({
  children,
  closeOnEscape,
  closeOnClickOutside = true,
  withCloseButton = true,
  ...props
}: DrawerProps) {
  const { busy, setBusy, ...closing } = useClosing(props.opened, closeOnEscape)
  return (
    <Drawer
      position="right"
      {...props}
      {...closing}
      closeOnClickOutside={closeOnClickOutside && !busy}
      withCloseButton={withCloseButton && !busy}
    >
      <BusyContext value={setBusy}>{children}</BusyContext>
    </Drawer>
  )
}
