import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { IconCheck, IconPackage } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { hub } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { type Archetype, type Grant, grantsPath, type Skill } from '../../components/full-lists.ts'
import { notifyDone } from '../../components/notify.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { formatCount } from '../../ui/formats.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { GrantsMatrix } from './grants-matrix.tsx'
import { byArchetype, fulfilled, type PendingGrants, toggled, unfulfilled } from './pending-grants.ts'

interface GrantsEditorProps {
  archetypes: readonly Archetype[]
  skills: readonly Skill[]
  grants: readonly Grant[]
}

/** Shows the matrix with its unsaved changes. Saving proceeds archetype by archetype. */
export function GrantsEditor({ archetypes, skills, grants }: GrantsEditorProps) {
  const me = useMe()
  const queryClient = useQueryClient()
  const mayChange = me.may('replaceArchetypeGrants')
  const [wishes, setWishes] = useState<PendingGrants>(new Map())
  const [active, setActive] = useState<{ skillId: string; archetypeId: string }>()
  const [isSaving, setIsSaving] = useState(false)
  const [failure, setFailure] = useState<{ archetypeId: string; error: unknown }>()
  const given = useMemo(() => byArchetype(grants), [grants])
  const pending = useMemo(() => unfulfilled(wishes, given), [wishes, given])
  const changes = [...pending.values()].reduce((sum, { size }) => sum + size, 0)

  const toggle = useCallback(
    (archetypeId: string, skillId: string) => {
      if (mayChange && !isSaving) setWishes((before) => toggled(before, given, archetypeId, skillId))
    },
    [mayChange, isSaving, given],
  )

  /** Reads the grants again before replacing them, so that concurrent changes stay. */
  async function save() {
    setIsSaving(true)
    setFailure(undefined)
    let archetypeId = ''
    const saved = new Set<string>()
    try {
      for (const [id, wanted] of pending) {
        archetypeId = id
        const path = '/api/v1/skill-entitlement/archetypes/{archetype_id}/grants'
        const params = { path: { archetype_id: id } }
        const { data } = await hub.GET(path, { params })
        const now = (data?.grants ?? []).map(({ skill_id }) => skill_id)
        await hub.PUT(path, { params, body: { skill_ids: fulfilled(now, wanted) } })
        saved.add(id)
      }
      notifyDone('The grants are saved.')
    } catch (error) {
      setFailure({ archetypeId, error })
    } finally {
      // Pending changes stay until the grants are read, so that no cell shows its former state in between.
      await queryClient.invalidateQueries({ queryKey: ['get', grantsPath] })
      setWishes((before) => new Map([...before].filter(([id]) => !saved.has(id))))
      setIsSaving(false)
    }
  }

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
      {failure && (
        <ProblemNotice error={failure.error} title={`The grants of ${failure.archetypeId} could not be saved`} />
      )}
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
              <Button disabled={changes === 0} loading={isSaving} onClick={() => void save()}>
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
        onConfirm={async () => leaving.proceed?.()}
        problem={(error) => <ProblemNotice error={error} />}
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
