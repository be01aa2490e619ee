import { Button, Group, Stack, Text } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import type { WebhookFormat } from '../../../contract/webhook-formats.ts'
import { type ApiResponse, hub } from '../../api/api-client.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { useAction } from '../../components/use-action.ts'
import { CopyText } from '../../ui/copy-text.tsx'
import { formatMs } from '../../ui/formats.ts'
import { Notice } from '../../ui/notice.tsx'
import { errorAdvice } from './delivery-labels.ts'

interface AddressTestProps {
  url: string
  format: WebhookFormat
}

/** Sends a test message to the address in the form, before the endpoint is saved. */
export function AddressTest({ url, format }: AddressTestProps) {
  const test = useAction({ send: () => hub.POST('/api/v1/webhooks:test', { body: { url: url.trim(), format } }) })
  return (
    <Stack gap="xs">
      <Group gap="sm" wrap="nowrap">
        <Button
          variant="default"
          flex="none"
          leftSection={<IconSend size={16} />}
          loading={test.isPending}
          disabled={!URL.canParse(url.trim())}
          onClick={() => test.mutate()}
        >
          Send test
        </Button>
        <Text size="sm" c="dimmed">
          Sends one signed message to the address above. Nothing is saved.
        </Text>
      </Group>
      <div aria-live="polite">
        {test.error ? <ProblemNotice error={test.error} title="The test could not be sent" /> : null}
        {test.data && !test.isPending && <Result {...test.data} />}
      </div>
    </Stack>
  )
}

function Result({ attempt, secret }: ApiResponse<'testWebhookAddress'>) {
  const { response, error, duration_ms, url } = attempt
  const facts = `${response ? `Status ${response.status}` : 'No response'} after ${formatMs(duration_ms)}, from ${url}`
  if (error) {
    return (
      <Notice kind="danger" title={error.detail}>
        <Text size="sm">{errorAdvice[error.code]}</Text>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {facts}
        </Text>
      </Notice>
    )
  }
  return (
    <Notice kind="good" title="The receiver accepted the message">
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {facts}
      </Text>
      <Text size="sm">This secret signed this message only. The endpoint gets its own when you save it.</Text>
      <CopyText value={secret} label="Copy the secret of this test" />
    </Notice>
  )
}
