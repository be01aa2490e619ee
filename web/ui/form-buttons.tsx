import { Button, Group } from '@mantine/core'
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
  useBusyDialog(busy)
  useDirtyDialog(isDirty)
  return (
    <Group justify="flex-end" gap="sm">
      <Button variant="default" onClick={onCancel} disabled={busy}>
        Cancel
      </Button>
      <Button type="submit" loading={busy} disabled={disabled}>
        {submit}
      </Button>
    </Group>
  )
}
