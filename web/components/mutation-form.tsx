import { Button, Group, type MantineSpacing, Stack } from '@mantine/core'
import { type FormEvent, type ReactNode, useEffect, useRef } from 'react'
import styles from '../ui/dialog.module.css'
import { useBusyDialog, useDirtyDialog } from '../ui/dialog.tsx'
import { ProblemNotice } from './problem-notice.tsx'
import type { FormSubmission } from './use-mutation-form.ts'

interface MutationFormProps {
  form: FormSubmission
  /** The fields. */
  children: ReactNode
  /** The action of the form: a verb. */
  submit: string
  /** The title of a failure: "The hold was not placed". */
  failed?: string | undefined
  /** Shows a failure otherwise than by `failed`. */
  problem?: (error: unknown) => ReactNode
  /** Closes the dialog or panel of the form; absent for a form in a page. */
  onCancel?(): void
  /** The label of the cancel button, if "Cancel" could be mistaken for the action. */
  cancel?: string | undefined
  disabled?: boolean
  /** True for destructive actions. */
  danger?: boolean | undefined
  /** True to close without asking, even with input. */
  isQuestion?: boolean
  /** Content beside the buttons of a dialog. */
  beside?: ReactNode
  /** Replaces the buttons; null for none. */
  buttons?: ReactNode
  gap?: MantineSpacing
}

/**
 * Shows the fields of a form, why it was not sent, and its buttons, which stay visible in a dialog while it scrolls. Moves the focus to the first invalid field, whether
 * the form or the Hub rejected it: in a long form it may be out of sight.
 */
export function MutationForm({ form, children, submit, failed, problem, onCancel, gap, ...rest }: MutationFormProps) {
  const element = useRef<HTMLFormElement>(null)
  const { busy, error } = form
  const showFault = () => requestAnimationFrame(() => element.current && focusFault(element.current))
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each failure
  useEffect(() => {
    if (error) showFault()
  }, [error])
  useBusyDialog(busy)
  useDirtyDialog(onCancel && !rest.isQuestion ? () => form.isDirty() : undefined)
  const button = (
    <Button type="submit" color={rest.danger ? 'red.9' : undefined} loading={busy} disabled={rest.disabled ?? false}>
      {submit}
    </Button>
  )
  return (
    <form
      ref={element}
      noValidate
      onSubmit={(event: FormEvent<HTMLFormElement>) => {
        form.submit(event)
        showFault()
      }}
    >
      <Stack {...(gap !== undefined && { gap })}>
        {children}
        {error
          ? (problem?.(error) ?? (
              <ProblemNotice error={error} errors={form.elsewhere} {...(failed && { title: failed })} />
            ))
          : null}
        {rest.buttons !== undefined ? (
          rest.buttons
        ) : onCancel ? (
          <div className={styles.foot}>
            {rest.beside !== undefined && <div className={styles.beside}>{rest.beside}</div>}
            <Button variant="default" onClick={onCancel} disabled={busy}>
              {rest.cancel ?? 'Cancel'}
            </Button>
            {button}
          </div>
        ) : (
          <Group>{button}</Group>
        )}
      </Stack>
    </form>
  )
}

/** Focuses the first invalid field, and scrolls to it with its label and its error. */
function focusFault(form: HTMLFormElement): void {
  const fault = form.querySelector<HTMLElement>('[aria-invalid="true"], .mantine-InputWrapper-error, [data-fault]')
  const whole = fault?.closest<HTMLElement>('.mantine-InputWrapper-root, fieldset') ?? fault
  const field = fault?.matches('[aria-invalid="true"]') ? fault : whole?.querySelector<HTMLElement>('input, button')
  // A button loses the focus while the form is being sent.
  const button = document.activeElement === document.body ? form.querySelector<HTMLElement>('[type="submit"]') : null
  ;(field ?? button)?.focus({ preventScroll: true })
  whole?.scrollIntoView({ block: 'nearest' })
}
