import { Button, Group } from '@mantine/core'
import { useBusyDialog } from './dialog.tsx'

interface FormButtonsProps {
  /** What the form does: a verb. */
  submit: string
  onCancel(): void
  /** It is being sent: neither sent twice nor left before its outcome is known. */
  busy: boolean
  disabled?: boolean
}

/** The end of a form in a dialog. */
export function FormButtons({ submit, onCancel, busy, disabled }: FormButtonsProps) {
  useBusyDialog(busy)
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
