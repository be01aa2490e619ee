import { Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { Dialog } from '../ui/dialog.tsx'
import { MutationForm } from './mutation-form.tsx'
import type { Action } from './use-action.ts'
import { useMutationForm } from './use-mutation-form.ts'

interface ConfirmDialogProps<Result> extends Action<Result, string> {
  opened: boolean
  onClose(): void
  title: string
  /** The consequence, and whether it can be undone. */
  children: ReactNode
  confirmLabel: string
  /** The label of the cancel button, if "Cancel" could be mistaken for the action. */
  cancelLabel?: string
  /** Red, for destructive actions. */
  danger?: boolean | undefined
  /** Requests a reason that is stored with the action. */
  reason?: { label: string; maxLength: number; required?: boolean }
  /** The text to type before the action, for actions that cannot be undone. */
  typeToConfirm?: string
  /** The title of a failure: "The hold was not released". */
  failed?: string
  /** Shows a failure otherwise than by `failed`. */
  problem?: (error: unknown) => ReactNode
}

/** Asks for confirmation of an action and states its consequence. Closes when the action is done. */
export function ConfirmDialog<Result>({ opened, onClose, title, ...rest }: ConfirmDialogProps<Result>) {
  return (
    <Dialog opened={opened} onClose={onClose} title={title} centered>
      {opened && <Question onClose={onClose} {...rest} />}
    </Dialog>
  )
}

function Question<Result>({
  onClose,
  children,
  confirmLabel,
  cancelLabel,
  reason,
  typeToConfirm,
  send,
  done,
  refresh,
  onDone,
  ...look
}: Omit<ConfirmDialogProps<Result>, 'opened' | 'title'>) {
  const form = useMutationForm({
    initialValues: { reason: '', typed: '' },
    send: (values) => send(values.reason.trim()),
    done,
    refresh,
    onDone: async (result: Result) => {
      await onDone?.(result)
      onClose()
    },
  })
  const { values } = form
  const ready = (!typeToConfirm || values.typed === typeToConfirm) && (!reason?.required || values.reason.trim() !== '')
  return (
    <MutationForm
      form={form}
      submit={confirmLabel}
      onCancel={onClose}
      cancel={cancelLabel}
      disabled={!ready}
      isQuestion
      {...look}
    >
      <div>{children}</div>
      {reason && (
        <Textarea
          label={reason.label}
          required={reason.required}
          maxLength={reason.maxLength}
          autosize
          minRows={2}
          data-autofocus
          {...form.getInputProps('reason')}
        />
      )}
      {typeToConfirm && (
        <TextInput
          label={`Type ${typeToConfirm} to confirm`}
          autoComplete="off"
          spellCheck={false}
          {...form.getInputProps('typed')}
        />
      )}
    </MutationForm>
  )
}
