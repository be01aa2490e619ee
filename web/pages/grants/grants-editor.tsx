import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { IconCheck, IconPackage } from '@tabler/icons-react'
import { useBlocker } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { hub } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { queryClient } from '../../api/query-client.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { type Archetype, type Grant, grantsPath, type Skill } from '../../components/full-lists.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { useAction } from '../../components/use-action.ts'
import { formatCount } from '../../ui/formats.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { GrantsMatrix } from './grants-matrix.tsx'
import { byArchetype, fulfilled, type PendingGrants, toggled, unfulfilled } from './pending-grants.ts'

const ofArchetype = '/api/v1/skill-entitlement/archetypes/{archetype_id}/grants'

interface GrantsEditorProps {
  archetypes: readonly Archetype[]
  skills: readonly Skill[]
  grants: readonly Grant[]
}

/** Shows the matrix with its unsaved changes. Saving proceeds archetype by archetype. */
export function GrantsEditor({ archetypes, skills, grants }: GrantsEditorProps) {
  const me = useMe()
  const mayChange = me.may('replaceArchetypeGrants')
  const [wishes, setWishes] = useState<PendingGrants>(new Map())
  const [active, setActive] = useState<{ skillId: string; archetypeId: string }>()
  /** The archetype whose grants are being saved, or could not be. */
  const [current, setCurrent] = useState<string>()
  const given = useMemo(() => byArchetype(grants), [grants])
  const pending = useMemo(() => unfulfilled(wishes, given), [wishes, given])
  const changes = [...pending.values()].reduce((sum, { size }) => sum + size, 0)

  const saving = useAction({
    // Reads the grants again before replacing them, so that concurrent changes stay.
    send: async () => {
      const saved = new Set<string>()
      try {
        for (const [id, wanted] of pending) {
          setCurrent(id)
          const params = { path: { archetype_id: id } }
          const { data } = await hub.GET(ofArchetype, { params })
          const now = (data?.grants ?? []).map(({ skill_id }) => skill_id)
          await hub.PUT(ofArchetype, { params, body: { skill_ids: fulfilled(now, wanted) } })
          saved.add(id)
        }
      } finally {
        // Pending changes stay until the grants are read, so that no cell shows its former state in between.
        await queryClient.invalidateQueries({ queryKey: ['get', grantsPath] })
        setWishes((before) => new Map([...before].filter(([id]) => !saved.has(id))))
      }
    },
    done: 'The grants are saved.',
  })
  const isSaving = saving.isPending
  const toggle = useCallback(
    (archetypeId: string, skillId: string) => {
      if (mayChange && !isSaving) setWishes((before) => toggled(before, given, archetypeId, skillId))
    },
    [mayChange, isSaving, given],
  )

  const leaving = useBlocker({
    shouldBlockFn: ({ current, next }) => changes > 0 && current.pathname !== next.pathname,
    enableBeforeUnload: changes > 0,
    withResolver: true,
  })

  return (
    <Stack gap="sm">
      <GrantsMatrix
        archetypes={archetypes}
        skills={skills}
        given={given}
        pending={pending}
        readOnly={!mayChange}
        onToggle={toggle}
        onActive={setActive}
      />
      <Group justify="space-between" gap="xs">
        <Text size="sm" mih="1.5em" c="dimmed">
          {active ? (
            <GrantWords grant={given.get(active.archetypeId)?.get(active.skillId)} {...active} />
          ) : (
            'Choose a cell to see who gave the grant.'
          )}
        </Text>
        <Legend />
      </Group>
      {saving.error ? (
        <ProblemNotice error={saving.error} title={`The grants of ${current} could not be saved`} />
      ) : null}
      {mayChange && (
        <Paper withBorder p="sm">
          <Group justify="space-between">
            <Text size="sm" role="status">
              {changes === 0
                ? 'No changes to save.'
                : `${formatCount(changes)} ${changes === 1 ? 'change' : 'changes'} for ${[...pending.keys()].join(', ')}, not saved yet.`}
            </Text>
            <Group gap="xs">
              <Button variant="default" disabled={changes === 0 || isSaving} onClick={() => setWishes(new Map())}>
                Discard
              </Button>
              <Button disabled={changes === 0} loading={isSaving} onClick={() => saving.mutate()}>
                Save grants
              </Button>
            </Group>
          </Group>
        </Paper>
      )}
      <ConfirmDialog
        opened={leaving.status === 'blocked'}
        onClose={() => leaving.reset?.()}
        title="Leave without saving?"
        confirmLabel="Leave"
        danger
        send={async () => leaving.proceed?.()}
      >
        <Text size="sm">{`${formatCount(changes)} changed grants are not saved, and are lost.`}</Text>
      </ConfirmDialog>
    </Stack>
  )
}

/** Explains the symbols in the cells. */
function Legend() {
  return (
    <Group gap="md">
      <Group gap={4}>
        <IconCheck size={15} aria-hidden />
        <Text size="sm" c="dimmed">
          granted by hand
        </Text>
      </Group>
      <Group gap={4}>
        <IconPackage size={15} aria-hidden />
        <Text size="sm" c="dimmed">
          granted by a pack
        </Text>
      </Group>
    </Group>
  )
}

function GrantWords({
  grant,
  skillId,
  archetypeId,
}: {
  grant: Grant | undefined
  skillId: string
  archetypeId: string
}) {
  if (!grant) return `${skillId} is not granted to ${archetypeId}.`
  return (
    <>
      {`${skillId} is granted to ${archetypeId} `}
      {grant.cowork_id ? `by the pack ${grant.cowork_id}` : 'by hand'}, since <TimeText iso={grant.granted_at} />.
      {grant.cowork_id && ' Taken here, it comes back when the pack is applied again.'}
    </>
  )
}
