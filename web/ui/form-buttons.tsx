import { Button } from '@mantine/core'
import { type ReactNode, type RefObject, useEffect, useRef } from 'react'
import styles from './dialog.module.css'
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
  /** Of the button that does nothing, where "Cancel" could be taken for the deed. */
  cancel?: string
  /** For what destroys. */
  danger?: boolean | undefined
  /** At their left: a figure, or what else can be done. */
  children?: ReactNode
}

/** The end of a form in a dialog or a panel, the last part of the form: it stays at the foot while the form scrolls. */
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

/** Leads to the first field that is refused, by the form itself or by the Hub: in a long form it is out of sight. */
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

/** With its label and what is said about it. */
function leadToFault(form: HTMLFormElement): void {
  const field = form.querySelector<HTMLElement>('[aria-invalid="true"]')
  field?.focus({ preventScroll: true })
  const whole = field?.closest('.mantine-InputWrapper-root') ?? field
  whole?.scrollIntoView({ block: 'nearest' })
}
