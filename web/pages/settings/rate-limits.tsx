import { Paper, Table, Text, Title } from '@mantine/core'
import { type RateClass, rateLimits } from '../../../contract/limits.ts'
import { formatCount } from '../../ui/formats.ts'

const labels: Record<RateClass, string> = {
  auth: 'Signing in, and tokens',
  'hub-read': 'Reading records and numbers',
  'hub-write': 'Writing records',
  'telemetry-ingest': 'Telemetry',
  roster: 'People, settings and webhooks',
  'skill-entitlement': 'Skills and grants',
}

/** Shows how many calls the Hub permits in a minute. */
export function RateLimits() {
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="limits">
      <Title order={2} id="limits">
        Rate limits
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Calls a minute. Beyond, the Hub answers 429 and says in Retry-After when to come back. The operator may have set
        others.
      </Text>
      <Table fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>For</Table.Th>
            <Table.Th ta="right">One token</Table.Th>
            <Table.Th ta="right">The tenant</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {Object.entries(rateLimits).map(([name, { perToken, perTenant }]) => (
            <Table.Tr key={name}>
              <Table.Td>{labels[name as RateClass]}</Table.Td>
              <Table.Td ta="right">{formatCount(perToken)}</Table.Td>
              <Table.Td ta="right">{formatCount(perTenant)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  )
}
