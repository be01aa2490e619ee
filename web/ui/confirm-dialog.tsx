import { Stack, Textarea, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Dialog } from './dialog.tsx'
import { FormButtons } from './form-buttons.tsx'

interface ConfirmDialogProps {
  opened: boolean
  onClose(): void
  title: string
  /** What will happen, and whether it can be taken back. */
  children: ReactNode
  confirmLabel: string
  /** Of the button that does nothing, where "Cancel" could be taken for the deed. */
  cancelLabel?: string
  /** Red, for what destroys. */
  danger?: boolean
  /** Asks for a reason that is kept with the deed. */
  reason?: { label: string; maxLength: number; required?: boolean }
  /** Has to be typed before anything happens: for what cannot be taken back. */
  typeToConfirm?: string
  /** Closes when it resolves. What it throws is shown by `problem`. */
  onConfirm(reason: string): Promise<unknown>
  /** Shows why it did not work. */
  problem(error: unknown): ReactNode
}

/** Asks before something happens, and says what. */
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
