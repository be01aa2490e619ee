import { Box, Paper, Stack, Table, Text, Title } from '@mantine/core'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { Notice } from '../../ui/notice.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { useLogKeys } from '../../verification/use-verification.ts'

/** Shows the keys that sign the log, and whether this browser trusts them. */
export function LogKeysTable() {
  const query = useLogKeys()
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="log-keys">
      <Title order={2} size="h3" mb="sm" id="log-keys">
        Keys
      </Title>
      <QueryBoundary query={query} what="keys">
        {(keys) => (
          <Stack gap="sm">
            {keys.problems.map((problem) => (
              <Notice key={problem} kind="tampered" title="A key is not trusted">
                {problem}
              </Notice>
            ))}
            <div style={{ overflowX: 'auto' }}>
              <Table aria-label="Keys that this browser trusts" miw={{ sm: 560 }}>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th scope="col">Key</Table.Th>
                    <Table.Th scope="col" visibleFrom="sm">
                      Since
                    </Table.Th>
                    <Table.Th scope="col">State</Table.Th>
                    <Table.Th scope="col">Trusted because</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {[...keys.trusted.values()].map((key) => (
                    <Table.Tr key={key.keyId}>
                      <Table.Td>
                        <Box maw={{ base: 120, sm: 'none' }}>
                          <CopyText value={key.keyId} label="Copy the id of the key" />
                        </Box>
                      </Table.Td>
                      <Table.Td visibleFrom="sm">
                        <TimeText iso={key.createdAt} form="date" />
                      </Table.Td>
                      <Table.Td>
                        {key.retiredAt ? (
                          <>
                            Retired <TimeText iso={key.retiredAt} form="date" />
                          </>
                        ) : (
                          'Signs'
                        )}
                      </Table.Td>
                      <Table.Td>{key.succession ? 'The key before introduces it' : 'It begins the log'}</Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </div>
            <Text size="sm" c="dimmed">
              {keys.pinnedAt && (
                <>
                  This browser took the first key on trust on <TimeText iso={keys.pinnedAt} />, and since then believes
                  only what it introduces.{' '}
                </>
              )}
              {!keys.kept && 'This browser keeps nothing, so that each visit is the first. '}
              Compare the first key once with the one that the operator gave you by another channel.
            </Text>
          </Stack>
        )}
      </QueryBoundary>
    </Paper>
  )
}
