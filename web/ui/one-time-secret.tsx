import { Button, Checkbox, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { CopyField } from './copy-field.tsx'
import { Dialog } from './dialog.tsx'

interface SecretOnceProps {
  /** Undefined while there is no secret to show. */
  secrets: { label: string; value: string }[] | undefined
  title: string
  /** The purpose of the secret, and what to do if it is lost. */
  about: string
  /** An example of its use: a command, a few lines of code. */
  children?: ReactNode
  onClose(): void
}

/** Shows a secret once. It closes only when the user confirms to have stored it. */
export function OneTimeSecret({ secrets, title, about, children, onClose }: SecretOnceProps) {
  const [kept, setKept] = useState(false)
  const close = () => {
    setKept(false)
    onClose()
  }
  return (
    <Dialog
      opened={secrets !== undefined}
      onClose={close}
      title={title}
      centered
      size="lg"
      withCloseButton={false}
      closeOnEscape={kept}
      closeOnClickOutside={false}
    >
      <Stack>
        <Text size="sm">{about}</Text>
        {secrets?.map(({ label, value }) => (
          <div key={label}>
            <Text size="sm" fw={600}>
              {label}
            </Text>
            <CopyField value={value} label={`Copy ${label.toLowerCase()}`} />
          </div>
        ))}
        {children}
        <Checkbox
          label="I have kept it. It will not be shown again."
          checked={kept}
          onChange={(event) => setKept(event.currentTarget.checked)}
        />
        <Button disabled={!kept} onClick={close}>
          Done
        </Button>
      </Stack>
    </Dialog>
  )
}
