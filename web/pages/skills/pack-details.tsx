import { Badge, Button, Group, List, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { isMissing } from '../../api/problem.ts'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { Notice } from '../../ui/notice.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { ApplicationChanges, ApplyPack } from './apply-pack.tsx'
import { PackForm } from './pack-form.tsx'
import { isChanged, type Pack } from './packs.ts'

interface PackDetailsProps {
  /** The pack; absent for a new one. */
  pack: Pack | undefined
  onStored(packId: string): void
  onClose(): void
}

/** Shows a pack: its content, editing and applying it, and its last changes. */
export function PackDetails({ pack, onStored, onClose }: PackDetailsProps) {
  const me = useMe()
  const [edits, { open: edit, close: stopEditing }] = useDisclosure(false)
  if (!pack || edits) {
    return (
      <PackForm
        pack={pack}
        onCancel={pack ? stopEditing : onClose}
        onStored={(packId) => {
          stopEditing()
          onStored(packId)
        }}
      />
    )
  }
  return (
    <Stack gap="lg">
      <Stack gap="xs">
        <CopyText value={pack.cowork_id} label="Copy pack id" />
        {!pack.applied_at && (
          <Notice kind="info" title="Not applied yet">
            The pack is stored, and has no effect before it is applied.
          </Notice>
        )}
        {isChanged(pack) && (
          <Notice kind="warning" title="Changed since it was applied">
            Apply it again, so that what is stored comes into effect.
          </Notice>
        )}
        <Group gap="xs">
          {me.may('applyCowork') && <ApplyPack pack={pack} />}
          {me.may('replaceCowork') && (
            <Button variant="default" onClick={edit}>
              Edit
            </Button>
          )}
        </Group>
      </Stack>
      <Stack gap="xs">
        <Title order={3}>Skills</Title>
        <List size="sm" spacing={4}>
          {pack.skills.map(({ skill_id, skill_version, name }) => (
            <List.Item key={`${skill_id} ${skill_version}`}>{`${name} (${skill_id} ${skill_version})`}</List.Item>
          ))}
        </List>
        <Title order={3}>For the archetypes</Title>
        <Group gap={6}>
          {pack.archetype_ids.map((id) => (
            <Badge key={id} variant="default">
              {id}
            </Badge>
          ))}
          {pack.archetype_ids.length === 0 && <Text size="sm">None</Text>}
        </Group>
      </Stack>
      {pack.applied_at && <LastApplication packId={pack.cowork_id} />}
    </Stack>
  )
}

function LastApplication({ packId }: { packId: string }) {
  const applied = api.useQuery('get', '/api/v1/skill-entitlement/coworks/{cowork_id}/apply', {
    params: { path: { cowork_id: packId } },
  })
  if (isMissing(applied)) return null
  return (
    <Stack gap="xs">
      <Title order={3}>Last application that changed something</Title>
      <QueryBoundary query={applied} what="application" skeleton={<SkeletonLines lines={2} height={28} />}>
        {(application) => (
          <>
            {application.applied_at && (
              <Text size="sm">
                <TimeText iso={application.applied_at} />
              </Text>
            )}
            <ApplicationChanges application={application} done />
          </>
        )}
      </QueryBoundary>
    </Stack>
  )
}
