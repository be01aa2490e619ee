import { Button, Paper, Stack, Text, Title } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMe } from '../../api/me.ts'
import { queryClient } from '../../api/query-client.ts'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { Notice } from '../../ui/notice.tsx'
import { checkpointSteps } from '../../verification/check-log.ts'
import type { Verdict } from '../../verification/steps.ts'
import { verifierOf } from '../../verification/use-verification.ts'
import { VerificationSteps } from '../../verification/verification-steps.tsx'

const verdicts: Record<Verdict, { kind: 'good' | 'warning' | 'tampered'; title: string; text: string }> = {
  verified: {
    kind: 'good',
    title: 'The log is signed and consistent with the last state seen',
    text: 'Nothing that was in it was taken out, put in between, or set back since.',
  },
  unproven: {
    kind: 'warning',
    title: 'Not everything could be checked',
    text: 'No problem was found. The checks that could not run are listed below.',
  },
  tampered: {
    kind: 'tampered',
    title: 'The log is not the one that it was',
    text: 'Keep this page open, and have the log audited with a checkpoint that was kept outside the Hub. After a restore of a backup the log begins again from an earlier state: ask who restored what.',
  },
}

/** Shows the newest state of the log, checked by the browser against its keys and the last state it saw. */
export function LogCheck() {
  const { tenant } = useMe()
  const query = useQuery({
    queryKey: ['verification', tenant, 'log'],
    queryFn: async () => checkpointSteps(await verifierOf(tenant)),
    structuralSharing: false,
    refetchOnWindowFocus: false,
  })
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="log-check">
      <Title order={2} size="h3" mb="sm" id="log-check">
        Checked in this browser
      </Title>
      <QueryBoundary query={query} what="keys and proofs of the log">
        {({ verdict, steps }) => (
          <Stack gap="md">
            <Notice kind={verdicts[verdict].kind} title={verdicts[verdict].title} urgent>
              <Text size="sm">{verdicts[verdict].text}</Text>
            </Notice>
            {/* The key resets the list for each result, so that failed steps are open. */}
            <VerificationSteps key={query.dataUpdatedAt} steps={steps} />
            <Button
              variant="default"
              w="fit-content"
              leftSection={<IconRefresh size={16} />}
              loading={query.isFetching}
              onClick={() => {
                void query.refetch()
                void queryClient.invalidateQueries({ queryKey: ['get', '/api/v1/hub/log/checkpoint'] })
              }}
            >
              Check again
            </Button>
          </Stack>
        )}
      </QueryBoundary>
    </Paper>
  )
}
