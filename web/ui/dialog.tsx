import { Button, Drawer, type DrawerProps, Group, Modal, type ModalProps, Text } from '@mantine/core'
import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import styles from './dialog.module.css'
import { useReturnFocus } from './use-return-focus.ts'

/** Ids of open dialogs, the topmost last. Escape closes only that one. */
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

/** Returns true if no other dialog covers this one. */
function useTopmost(opened: boolean): boolean {
  const id = useId()
  useEffect(() => {
    if (!opened) return
    setOpen([...open, id])
    return () => setOpen(open.filter((each) => each !== id))
  }, [opened, id])
  return useSyncExternalStore(subscribe, () => open.at(-1) === id)
}

interface DialogState {
  setBusy(busy: boolean): void
  /** Called before the dialog closes; undefined if it has no unsaved input. */
  setDirty(isDirty: (() => boolean) | undefined): void
}

const DialogContext = createContext<DialogState>({ setBusy: () => undefined, setDirty: () => undefined })

/** Keeps the surrounding dialog open during an action whose result the user would miss otherwise. */
export function useBusyDialog(busy: boolean): void {
  const { setBusy } = useContext(DialogContext)
  useLayoutEffect(() => {
    if (!busy) return
    setBusy(true)
    return () => setBusy(false)
  }, [busy, setBusy])
}

/** Makes the surrounding dialog ask before it closes with unsaved input. */
export function useDirtyDialog(isDirty: (() => boolean) | undefined): void {
  const { setDirty } = useContext(DialogContext)
  useEffect(() => {
    setDirty(isDirty)
    return () => setDirty(undefined)
  })
}

interface Closing {
  opened: boolean
  onClose(): void
  closeOnEscape?: boolean | undefined
}

function useClosing({ opened, onClose, closeOnEscape = true }: Closing) {
  const topmost = useTopmost(opened)
  useReturnFocus(opened)
  const [busy, showBusy] = useState(false)
  // Set synchronously: Escape may arrive before the library's state is rendered again.
  const isBusy = useRef(false)
  const [asking, setAsking] = useState(false)
  const dirty = useRef<() => boolean>(undefined)
  const state = useMemo<DialogState>(() => {
    const setDirty: DialogState['setDirty'] = (isDirty) => {
      dirty.current = isDirty
    }
    const setBusy: DialogState['setBusy'] = (value) => {
      isBusy.current = value
      showBusy(value)
    }
    return { setBusy, setDirty }
  }, [])
  return {
    state,
    busy,
    closing: {
      closeOnEscape: closeOnEscape && topmost && !busy,
      onClose: () => {
        if (isBusy.current) return
        if (dirty.current?.()) setAsking(true)
        else onClose()
      },
    },
    question: asking && (
      <Discard
        onDiscard={() => {
          setAsking(false)
          onClose()
        }}
        onStay={() => setAsking(false)}
      />
    ),
  }
}

function Discard({ onDiscard, onStay }: { onDiscard(): void; onStay(): void }) {
  return (
    <Modal opened onClose={onStay} title="Leave without saving?" centered closeOnEscape={useTopmost(true)}>
      <Text size="sm">What you entered here will be lost.</Text>
      <Group justify="flex-end" gap="sm" mt="md">
        <Button variant="default" onClick={onDiscard}>
          Discard
        </Button>
        <Button onClick={onStay} data-autofocus>
          Go on
        </Button>
      </Group>
    </Modal>
  )
}

interface Head {
  title: ReactNode
  /** The kind of object, in small text above its name: "Legal hold". */
  kind?: string
  /** The size for a question, for a form or details, or for columns. */
  size?: 'md' | 'lg' | 'xl'
}

function titled({ title, kind }: Pick<Head, 'title'> & { kind: string | undefined }): ReactNode {
  if (!kind) return title
  return (
    <>
      <span className={styles.kind}>{kind}</span>
      {title || '…'}
    </>
  )
}

const parts = { content: styles.content, title: styles.title }

type DialogProps = Omit<ModalProps, keyof Head> & Head

/** A dialog with input. A click beside it does not close it: the input would be lost. */
export function Dialog({
  children,
  opened,
  onClose,
  closeOnEscape,
  withCloseButton = true,
  title,
  kind,
  ...props
}: DialogProps) {
  const { state, busy, closing, question } = useClosing({ opened, onClose, closeOnEscape })
  return (
    <>
      <Modal
        closeOnClickOutside={false}
        {...props}
        {...closing}
        title={titled({ title, kind })}
        classNames={parts}
        opened={opened}
        withCloseButton={withCloseButton && !busy}
      >
        <DialogContext value={state}>{children}</DialogContext>
      </Modal>
      {question}
    </>
  )
}

type SidePanelProps = Omit<DrawerProps, keyof Head> & Head

/** A panel at the right of a page for details or a long form. */
export function SidePanel({
  children,
  opened,
  onClose,
  closeOnEscape,
  closeOnClickOutside = true,
  withCloseButton = true,
  title,
  kind,
  ...props
}: SidePanelProps) {
  const { state, busy, closing, question } = useClosing({ opened, onClose, closeOnEscape })
  return (
    <>
      <Drawer
        position="right"
        {...props}
        {...closing}
        title={titled({ title, kind })}
        classNames={parts}
        opened={opened}
        closeOnClickOutside={closeOnClickOutside && !busy}
        withCloseButton={withCloseButton && !busy}
      >
        <DialogContext value={state}>{children}</DialogContext>
      </Drawer>
      {question}
    </>
  )
}
