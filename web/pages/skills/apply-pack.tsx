import { Button, List, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { type ApiResponse, hub } from '../../api/api-client.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { useAction } from '../../components/use-action.ts'
import { formatCount } from '../../ui/formats.ts'
import type { Pack } from './packs.ts'

type Application = ApiResponse<'applyCowork'>
const path = '/api/v1/skill-entitlement/coworks/{cowork_id}/apply'

/** Applies a pack, after a dry run that shows its changes. */
export function ApplyPack({ pack }: { pack: Pack }) {
  const [planned, setPlanned] = useState<Application>()
  const params = { path: { cowork_id: pack.cowork_id } }
  const plan = useAction({ send: () => hub.POST(path, { params, body: { dry_run: true } }), onDone: setPlanned })
  return (
    <>
      <Button loading={plan.isPending} onClick={() => plan.mutate()}>
        {pack.applied_at ? 'Apply again …' : 'Apply …'}
      </Button>
      {plan.error ? <ProblemNotice error={plan.error} title="The pack cannot be applied" /> : null}
      <ConfirmDialog
        opened={planned !== undefined}
        onClose={() => setPlanned(undefined)}
        title={`Apply ${pack.name}?`}
        confirmLabel={planned?.unchanged ? 'Apply anyway' : 'Apply pack'}
        failed="The pack could not be applied"
        send={() => hub.POST(path, { params, body: {} })}
        done={({ unchanged }) => (unchanged ? 'Everything was so already.' : `${pack.name} is applied.`)}
        refresh="everything"
      >
        {planned && (
          <Stack gap="xs">
            <ApplicationChanges application={planned} />
            {!planned.unchanged && (
              <Text size="sm" c="dimmed">
                All of it happens, or nothing. What was granted by hand, or by another pack, stays.
              </Text>
            )}
          </Stack>
        )}
      </ConfirmDialog>
    </>
  )
}

const namedMax = 20

/** Shows the changes of applying a pack, planned or done. */
export function ApplicationChanges({ application, done = false }: { application: Application; done?: boolean }) {
  const { registered, published, granted, revoked, unchanged } = application
  if (unchanged)
    return <Text size="sm">{done ? 'It changed nothing.' : 'It would change nothing: all of it is so already.'}</Text>
  const pair = ({ skill_id, archetype_id }: { skill_id: string; archetype_id: string }) =>
    `${skill_id} → ${archetype_id}`
  const parts: [label: string, names: string[]][] = [
    [
      done ? 'Registered' : 'Registers',
      registered.map(({ skill_id, skill_version }) => `${skill_id} ${skill_version}`),
    ],
    [done ? 'Published' : 'Publishes', published],
    [done ? 'Granted' : 'Grants', granted.map(pair)],
    [done ? 'Took away' : 'Takes away', revoked.map(pair)],
  ]
  return (
    <Stack gap="xs">
      {parts.map(([label, names]) =>
        names.length === 0 ? null : (
          <div key={label}>
            <Text size="sm" fw={600}>{`${label} ${formatCount(names.length)}`}</Text>
            <List size="sm" aria-label={label}>
              {names.slice(0, namedMax).map((name) => (
                <List.Item key={name}>{name}</List.Item>
              ))}
            </List>
            {names.length > namedMax && <Text size="sm">{`and ${formatCount(names.length - namedMax)} more`}</Text>}
          </div>
        ),
      )}
    </Stack>
  )
}
