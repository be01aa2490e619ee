import { Button, Group } from '@mantine/core'
import { type RefObject, useEffect, useRef } from 'react'
import { useBusyDialog, useDirtyDialog } from './dialog.tsx'

interface FormButtonsProps {
  /** What the form does: a verb. */
  submit: string
  onCancel(): void
  /** It is being sent: neither sent twice nor left before its outcome is known. */
  busy: boolean
  disabled?: boolean
  /** Whether something was entered that would be lost: asked when the dialog is about to close otherwise. */
  isDirty?(): boolean
}

/** The end of a form in a dialog. */
export function FormButtons({ submit, onCancel, busy, disabled, isDirty }: FormButtonsProps) {
  const buttons = useRef<HTMLDivElement>(null)
  useBusyDialog(busy)
  useDirtyDialog(isDirty)
  useFocusOnFault(buttons, busy)
  return (
    <Group justify="flex-end" gap="sm" ref={buttons}>
      <Button variant="default" onClick={onCancel} disabled={busy}>
        Cancel
      </Button>
      <Button type="submit" loading={busy} disabled={disabled}>
        {submit}
      </Button>
    </Group>
  )
}

/** Leads to the first field that is refused, by the form itself or by the Hub: in a long form it is out of sight. */
function useFocusOnFault(within: RefObject<HTMLElement | null>, busy: boolean): void {
  const wasBusy = useRef(false)
  useEffect(() => {
    const form = within.current?.closest('form')
    const look = () => requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
    if (wasBusy.current && !busy) look()
    wasBusy.current = busy
    form?.addEventListener('submit', look)
    return () => form?.removeEventListener('submit', look)
  }, [within, busy])
}
