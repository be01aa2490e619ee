import { Button, Checkbox, Group, Stack, Stepper, Text, useMatches } from '@mantine/core'
import { useState } from 'react'
import { hub } from '../../api/api-client.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { useAction } from '../../components/use-action.ts'
import { CopyField } from '../../ui/copy-field.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { TestRun } from './live-test.tsx'
import { VerificationCode } from './verification-code.tsx'
import type { Webhook } from './webhook-form.ts'

interface SecretRotationProps {
  opened: boolean
  onClose(): void
  webhook: Webhook
}

/** Guides through a secret rotation without a lost message. */
export function SecretRotation({ opened, onClose, webhook }: SecretRotationProps) {
  const [mayClose, setMayClose] = useState(true)
  return (
    <Dialog
      opened={opened}
      onClose={onClose}
      title="Rotate the secret"
      size="xl"
      closeOnClickOutside={false}
      closeOnEscape={mayClose}
      withCloseButton={mayClose}
    >
      {opened && <Walk webhook={webhook} onClose={onClose} onMayClose={setMayClose} />}
    </Dialog>
  )
}

function Walk({
  webhook,
  onClose,
  onMayClose,
}: Omit<SecretRotationProps, 'opened'> & { onMayClose(may: boolean): void }) {
  const [step, setStep] = useState(0)
  const [kept, setKept] = useState(false)
  const orientation = useMatches<'vertical' | 'horizontal'>({ base: 'vertical', sm: 'horizontal' })
  const rotate = useAction({
    send: () => {
      // From here on there may be a secret that the user has not yet seen.
      onMayClose(false)
      return hub.POST('/api/v1/webhooks/{webhook_id}:rotate-secret', {
        params: { path: { webhook_id: webhook.webhook_id } },
        body: {},
      })
    },
    refresh: ['/api/v1/webhooks'],
    onDone: () => setStep(1),
    onError: () => onMayClose(true),
  })
  const until = rotate.data?.former_secret_until ?? webhook.former_secret_until
  return (
    <Stepper active={step} size="sm" orientation={orientation} allowNextStepsSelect={false}>
      <Stepper.Step label="Before" allowStepSelect={false}>
        <Stack pt="md">
          <Text size="sm">
            The endpoint gets a new secret. For 24 hours every message has two signatures, one by the new secret and one
            by the former, so a receiver goes on with either until you have changed it. Then the former ends. This
            cannot be taken back.
          </Text>
          {webhook.former_secret_until && (
            <Notice kind="warning" title="It was rotated within the last day">
              <Text size="sm">
                The secret before the present one is good until <TimeText iso={webhook.former_secret_until} />. Rotating
                now ends it at once: a receiver that still has it refuses what comes.
              </Text>
            </Notice>
          )}
          {rotate.error !== null && <ProblemNotice error={rotate.error} title="The secret was not rotated" />}
          <Group justify="flex-end">
            <Button variant="default" disabled={rotate.isPending} onClick={onClose}>
              Cancel
            </Button>
            <Button loading={rotate.isPending} onClick={() => rotate.mutate()}>
              Make the new secret
            </Button>
          </Group>
        </Stack>
      </Stepper.Step>
      <Stepper.Step label="New secret" allowStepSelect={false}>
        <Stack pt="md">
          <Text size="sm">Keep it where the receiver gets it from. It is shown this once.</Text>
          {rotate.data?.secret && <CopyField value={rotate.data.secret} label="Copy new secret" />}
          <Checkbox
            label="I have kept it. It will not be shown again."
            checked={kept}
            onChange={(event) => setKept(event.currentTarget.checked)}
          />
          <Group justify="flex-end">
            <Button
              disabled={!kept}
              onClick={() => {
                onMayClose(true)
                rotate.reset()
                setStep(2)
              }}
            >
              Next
            </Button>
          </Group>
        </Stack>
      </Stepper.Step>
      <Stepper.Step label="Deploy" allowStepSelect={false}>
        <Stack pt="md">
          <Text size="sm">
            Give the receiver the new secret in place of the former one, and restart it. The verifiers of sdk/ take a
            list too, of both secrets: with that it does not matter when each process follows.
          </Text>
          {until && (
            <Text size="sm">
              You have time until <TimeText iso={until} />.
            </Text>
          )}
          <VerificationCode />
          <Group justify="flex-end">
            <Button onClick={() => setStep(3)}>The receiver has it</Button>
          </Group>
        </Stack>
      </Stepper.Step>
      <Stepper.Step label="Test" allowStepSelect={false}>
        <Stack pt="md">
          <TestRun webhookId={webhook.webhook_id} onTaken={() => setStep(4)} />
          <Text size="sm" c="dimmed">
            Until the former secret ends, a receiver with either one takes the message. See in the receiver’s own
            settings that it has the new one.
          </Text>
        </Stack>
      </Stepper.Step>
      <Stepper.Completed>
        <Stack pt="md">
          <Notice kind="good" title="The new secret is in use">
            <Text size="sm">
              {until ? (
                <>
                  The former one signs until <TimeText iso={until} />, and then no more. There is nothing else to do.
                </>
              ) : (
                'There is nothing else to do.'
              )}
            </Text>
          </Notice>
          <Group justify="flex-end">
            <Button onClick={onClose}>Done</Button>
          </Group>
        </Stack>
      </Stepper.Completed>
    </Stepper>
  )
}
