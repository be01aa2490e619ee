import { Stack, Textarea, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Dialog } from './dialog.tsx'
import { FormButtons } from './form-buttons.tsx'

interface ConfirmDialogProps {
  opened: boolean
  onClose(): void
  title: string
  /** The consequence, and whether it can be undone. */
  children: ReactNode
  confirmLabel: string
  /** The label of the cancel button, if "Cancel" could be mistaken for the action. */
  cancelLabel?: string
  /** Red, for destructive actions. */
  danger?: boolean
  /** Requests a reason that is stored with the action. */
  reason?: { label: string; maxLength: number; required?: boolean }
  /** The text to type before the action, for actions that cannot be undone. */
  typeToConfirm?: string
  /** Runs the action; the dialog closes when it resolves. `problem` shows its error. */
  onConfirm(reason: string): Promise<unknown>
  /** Shows why the action failed. */
  problem(error: unknown): ReactNode
}

/** Asks for confirmation of an action and states its consequence. */
export function ConfirmDialog({ opened, onClose, title, ...rest }: ConfirmDialogProps) {
  return (
    <Dialog opened={opened} onClose={onClose} title={title} centered>
      {opened && <Question onClose={onClose} {...rest} />}
    </Dialog>
  )
}

function Question({
  onClose,
  children,
  confirmLabel,
  cancelLabel = 'Cancel',
  danger,
  reason,
  typeToConfirm,
  onConfirm,
  problem,
}: Omit<ConfirmDialogProps, 'opened' | 'title'>) {
  const [text, setText] = useState('')
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const ready = (!typeToConfirm || typed === typeToConfirm) && (!reason?.required || text.trim() !== '')

  async function confirm() {
    setBusy(true)
    setFailure(undefined)
    try {
      await onConfirm(text.trim())
      onClose()
    } catch (error) {
      setFailure(error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (ready && !busy) void confirm()
      }}
    >
      <Stack>
        <div>{children}</div>
        {reason && (
          <Textarea
            label={reason.label}
            required={reason.required}
            maxLength={reason.maxLength}
            autosize
            minRows={2}
            data-autofocus
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        )}
        {typeToConfirm && (
          <TextInput
            label={`Type ${typeToConfirm} to confirm`}
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
        )}
        {failure !== undefined && problem(failure)}
        <FormButtons
          {...{ busy, danger }}
          submit={confirmLabel}
          cancel={cancelLabel}
          onCancel={onClose}
          disabled={!ready}
        />
      </Stack>
    </form>
  )
}
