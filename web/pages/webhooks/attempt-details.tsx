import { Accordion, Code, Group, Stack, Table, Text } from '@mantine/core'
import { IconCheck, IconX } from '@tabler/icons-react'
import type { ApiResponse } from '../../api/api-client.ts'
import { formatMs } from '../../ui/formats.ts'
import { Notice } from '../../ui/notice.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { errorAdvice } from './delivery-labels.ts'

type Attempt = ApiResponse<'getDelivery'>['attempts'][number]

interface AttemptsProps {
  attempts: readonly Attempt[]
  /** The number of all attempts; the Hub stores the last of them. */
  count: number
}

/** Shows every attempt of a delivery, with its request and response, the newest first and open. */
export function Attempts({ attempts, count }: AttemptsProps) {
  const newestFirst = attempts.toReversed()
  return (
    <Accordion variant="separated" defaultValue={newestFirst[0]?.at ?? null}>
      {newestFirst.map((attempt, index) => {
        const { at, duration_ms, response, error } = attempt
        return (
          <Accordion.Item key={at} value={at}>
            <Accordion.Control>
              <Group gap="xs" wrap="wrap">
                {error ? (
                  <IconX size={16} color="var(--mantine-color-red-text)" aria-hidden />
                ) : (
                  <IconCheck size={16} color="var(--mantine-color-seal-text)" aria-hidden />
                )}
                <Text size="sm" fw={600}>
                  {`Attempt ${count - index}: ${response ? response.status : (error?.code ?? 'taken')}`}
                </Text>
                <Text size="sm" c="dimmed">
                  <TimeText iso={at} /> · {formatMs(duration_ms)}
                </Text>
              </Group>
            </Accordion.Control>
            <Accordion.Panel>
              <AttemptDetails attempt={attempt} />
            </Accordion.Panel>
          </Accordion.Item>
        )
      })}
    </Accordion>
  )
}

function AttemptDetails({ attempt }: { attempt: Attempt }) {
  const { url, request_headers, response, error, retry_after_seconds } = attempt
  return (
    <Stack gap="sm">
      {error && (
        <Notice kind="danger" title={error.detail}>
          {errorAdvice[error.code]}
        </Notice>
      )}
      {retry_after_seconds !== undefined && (
        <Text size="sm">{`The receiver asked to wait ${retry_after_seconds} seconds.`}</Text>
      )}
      <Headers title={`Request: POST ${url}`} headers={request_headers} />
      {response && (
        <>
          <Headers title={`Answer: ${response.status}`} headers={response.headers} />
          {response.body && (
            <Code block tabIndex={0} aria-label="Beginning of the answer’s body" role="region">
              {response.body}
            </Code>
          )}
        </>
      )}
    </Stack>
  )
}

function Headers({ title, headers }: { title: string; headers: Record<string, string> }) {
  return (
    <div>
      <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
        {title}
      </Text>
      <Table layout="fixed" fz="xs" verticalSpacing={4}>
        <Table.Tbody>
          {Object.entries(headers).map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th w="38%" fw={500} style={{ overflowWrap: 'anywhere' }}>
                {name}
              </Table.Th>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}
