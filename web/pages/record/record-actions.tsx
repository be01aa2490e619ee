import { Button, Group, Text, TextInput } from '@mantine/core'
import { IconArrowBackUp, IconGavel, IconLockOpen, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { hub } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { HubProblem } from '../../api/problem.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { LinkText } from '../../components/link-text.tsx'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { titleOfRecord } from '../../components/record-type.tsx'
import { formatTime } from '../../ui/time-text.tsx'
import { type ReadRecord, readAgain, useRecordState } from './use-record.ts'

type Asked = 'purge' | 'restore' | 'hold' | 'release' | undefined

/** Shows the actions on a record that the user may perform. */
export function RecordActions({ read: { record, etag } }: { read: ReadRecord }) {
  const me = useMe()
  const [asked, setAsked] = useState<Asked>()
  const [matter, setMatter] = useState('')
  const { record_id, record_type, is_purged } = record
  const path = { record_id }
  const header = etag ? { 'If-Match': etag } : {}
  const title = titleOfRecord(record)
  const isHeld = (useRecordState(record_id).data?.holds.length ?? 0) > 0
  const dialog = (which: Asked) => ({ opened: asked === which, onClose: () => setAsked(undefined), problem: Refusal })
  /** Reads the record again after a refusal, too: it shows concurrent changes. */
  const thenRead = <Response,>(request: Promise<Response>) => request.finally(() => readAgain(record_id))

  const mayRelease = me.may('releaseRecord') && record_type === 'governance_event'
  const buttons = [
    { which: 'purge', label: 'Purge …', Icon: IconTrash, isShown: me.may('purgeRecord') && !is_purged },
    { which: 'restore', label: 'Restore …', Icon: IconArrowBackUp, isShown: me.may('restoreRecord') && is_purged },
    { which: 'hold', label: 'Place hold …', Icon: IconGavel, isShown: me.may('placeHold') },
    { which: 'release', label: 'Release for purging …', Icon: IconLockOpen, isShown: mayRelease && !is_purged },
  ] as const
  return (
    <Group gap="xs">
      {buttons.map(
        ({ which, label, Icon, isShown }) =>
          isShown && (
            <Button
              key={which}
              size="xs"
              variant="default"
              leftSection={<Icon size={15} aria-hidden />}
              disabled={which === 'purge' && isHeld}
              title={which === 'purge' && isHeld ? 'A legal hold is over it' : undefined}
              onClick={() => setAsked(which)}
            >
              {label}
            </Button>
          ),
      )}

      <ConfirmDialog
        {...dialog('purge')}
        title={`Purge “${title}”?`}
        confirmLabel="Purge"
        danger
        reason={{ label: 'Reason', maxLength: 500, required: true }}
        send={(reason) =>
          thenRead(hub.DELETE('/api/v1/hub/records/{record_id}', { params: { path, query: { reason }, header } }))
        }
        done={({ hard_delete_after }) => `Purged. It can be restored until ${formatTime(hard_delete_after)}.`}
      >
        <Text size="sm">
          It goes out of queries, exports and counts at once. For 30 days it can be restored; then it is erased for
          good, and only a certificate stays, which says that it was there and why it went. Purge and reason are
          recorded.
        </Text>
      </ConfirmDialog>

      <ConfirmDialog
        {...dialog('restore')}
        title={`Restore “${title}”?`}
        confirmLabel="Restore"
        send={() =>
          thenRead(hub.POST('/api/v1/hub/records/{record_id}:restore', { params: { path, header }, body: {} }))
        }
        done="Restored. It is in queries again."
      >
        <Text size="sm">It is in queries, exports and counts again, as it was. The restore is recorded.</Text>
      </ConfirmDialog>

      <ConfirmDialog
        {...dialog('hold')}
        title="Place a legal hold on this record"
        confirmLabel="Place hold"
        reason={{ label: 'Reason', maxLength: 500, required: true }}
        send={(reason) => {
          const name = matter.trim() || `Record ${record_id}`
          return thenRead(hub.POST('/api/v1/hub/legal-holds', { body: { name, reason, record_ids: [record_id] } }))
        }}
        done={({ name }) => `The hold “${name}” is placed.`}
        onDone={() => setMatter('')}
      >
        <Text size="sm" mb="sm">
          While it is in force nobody can purge or erase the record. It ends when somebody releases it, on the page of
          legal holds. Further holds may be over the same record.
        </Text>
        <TextInput
          label="Name"
          placeholder={`Record ${record_id}`}
          description="What the hold is called; by default by the record."
          maxLength={200}
          value={matter}
          onChange={({ currentTarget }) => setMatter(currentTarget.value)}
        />
      </ConfirmDialog>

      <ConfirmDialog
        {...dialog('release')}
        title="Release this governance event for purging?"
        confirmLabel="Release"
        danger
        reason={{ label: 'Reason', maxLength: 500, required: true }}
        send={(reason) =>
          thenRead(
            hub.POST('/api/v1/hub/records/{record_id}/legal-hold-releases', { params: { path }, body: { reason } }),
          )
        }
        done="Released. The event can be purged now."
      >
        <Text size="sm">
          Governance events are kept for good unless they are released. After this the event can be purged, unless a
          hold or a retention rule keeps it. The release is recorded, and cannot be taken back.
        </Text>
      </ConfirmDialog>
    </Group>
  )
}

/** Shows why an action was refused, with a link to the obstacle. */
function Refusal(error: unknown) {
  const slug = error instanceof HubProblem ? error.slug : ''
  return (
    <>
      <ProblemNotice error={error} title="It was not done" />
      {slug === 'concurrent-modification' && (
        <Text size="sm">The record was reloaded. Review it behind this dialog, then confirm again.</Text>
      )}
      {slug.includes('hold') && (
        <Text size="sm">
          See <LinkText to="/governance/holds">the legal holds</LinkText>: one has to be released first. A governance
          event has to be released for purging.
        </Text>
      )}
      {slug.includes('retention') && (
        <Text size="sm">
          See <LinkText to="/governance/retention">the retention rules</LinkText>: they say for how long records are
          kept at least.
        </Text>
      )}
    </>
  )
}
