import { Button } from '@mantine/core'
import { type ReactNode, type RefObject, useEffect, useRef } from 'react'
import styles from './dialog.module.css'
import { useBusyDialog, useDirtyDialog } from './dialog.tsx'

interface FormButtonsProps {
  /** The action of the form: a verb. */
  submit: string
  onCancel(): void
  /** True while the form is being sent: it can neither be sent again nor closed. */
  busy: boolean
  disabled?: boolean
  /** Returns true if the form has unsaved input; called before the dialog closes. */
  isDirty?(): boolean
  /** The label of the cancel button, if "Cancel" could be mistaken for the action. */
  cancel?: string
  /** True for destructive actions. */
  danger?: boolean | undefined
  /** Content at the left of the buttons: a value, or further actions. */
  children?: ReactNode
}

/** The buttons at the end of a form in a dialog or a panel: they stay visible while the form scrolls. */
export function FormButtons({
  submit,
  onCancel,
  busy,
  disabled,
  isDirty,
  cancel = 'Cancel',
  danger = false,
  children,
}: FormButtonsProps) {
  const buttons = useRef<HTMLDivElement>(null)
  useBusyDialog(busy)
  useDirtyDialog(isDirty)
  useFocusOnFault(buttons, busy)
  return (
    <div className={styles.foot} ref={buttons}>
      {children !== undefined && <div className={styles.beside}>{children}</div>}
      <Button variant="default" onClick={onCancel} disabled={busy}>
        {cancel}
      </Button>
      <Button type="submit" color={danger ? 'red.9' : undefined} loading={busy} disabled={disabled}>
        {submit}
      </Button>
    </div>
  )
}

/**
 * Moves the focus to the first invalid field, whether the form or the Hub rejected it: in a long form it may be out of
 * sight.
 */
function useFocusOnFault(within: RefObject<HTMLElement | null>, busy: boolean): void {
  const wasBusy = useRef(false)
  useEffect(() => {
    const form = within.current?.closest('form')
    const look = () => requestAnimationFrame(() => form && leadToFault(form))
    if (wasBusy.current && !busy) look()
    wasBusy.current = busy
    form?.addEventListener('submit', look)
    return () => form?.removeEventListener('submit', look)
  }, [within, busy])
}

/** Scrolls to the field with its label and its error. */
function leadToFault(form: HTMLFormElement): void {
  const field = form.querySelector<HTMLElement>('[aria-invalid="true"]')
  field?.focus({ preventScroll: true })
  const whole = field?.closest('.mantine-InputWrapper-root') ?? field
  whole?.scrollIntoView({ block: 'nearest' })
}
