import { SegmentedControl, Text, Textarea, TextInput } from '@mantine/core'
import { holdRecordsMax } from '../../../../contract/limits.ts'
import { hub } from '../../../api/api-client.ts'
import { useMe } from '../../../api/me.ts'
import { MutationForm } from '../../../components/mutation-form.tsx'
import { noFilter } from '../../../components/record-filter.ts'
import { RecordFilterFields } from '../../../components/record-filter-fields.tsx'
import { useMutationForm } from '../../../components/use-mutation-form.ts'
import { Notice } from '../../../ui/notice.tsx'
import { FilterPreview } from './filter-preview.tsx'
import { emptyHold, hasCondition, holdBody, holdValuesOf, idsIn, isRecordId } from './hold-values.ts'
import { IdsPreview } from './ids-preview.tsx'

interface PlaceHoldProps {
  recordIds: readonly string[]
  /** Called with the id of the hold if one was placed. */
  onClose(placed?: string): void
}

/** Places a legal hold over records by id, records that a filter finds, or all, after a preview of what it covers. */
export function PlaceHold({ onClose, recordIds }: PlaceHoldProps) {
  const { tenant } = useMe()
  const form = useMutationForm({
    initialValues: emptyHold(recordIds),
    schema: holdValuesOf(tenant),
    send: (values) => hub.POST('/api/v1/hub/legal-holds', { body: holdBody(values) }),
    done: ({ name }) => `“${name}” is in force.`,
    refresh: ['/api/v1/hub/legal-holds'],
    onDone: ({ hold_id }) => onClose(hold_id),
  })
  const { over, filter, record_ids } = form.values
  const ids = idsIn(record_ids)
  return (
    <MutationForm form={form} submit="Place hold" failed="The hold was not placed" onCancel={() => onClose()}>
      <TextInput
        label="Name"
        description="Its name in lists, and in refusals to purge."
        required
        data-autofocus
        {...form.getInputProps('name')}
      />
      <Textarea
        label="Reason"
        description="It goes into a governance event, which stays."
        required
        autosize
        minRows={2}
        {...form.getInputProps('reason')}
      />
      <SegmentedControl
        aria-label="Scope"
        data={[
          { value: 'records', label: 'Records by id' },
          { value: 'filter', label: 'By filter' },
          { value: 'all', label: 'All records' },
        ]}
        {...form.getInputProps('over')}
      />
      {over === 'records' && (
        <>
          <Textarea
            label="Ids of records"
            description={`One on a line, or with commas between; at most ${holdRecordsMax.toLocaleString()}.`}
            required
            autosize
            minRows={4}
            maxRows={12}
            ff="monospace"
            spellCheck={false}
            {...form.getInputProps('record_ids')}
          />
          {ids.some(isRecordId) && <IdsPreview ids={ids} />}
        </>
      )}
      {over === 'filter' && (
        <>
          <Text size="sm" c="dimmed">
            The hold also covers records that match and are written later. At least one condition is required.
          </Text>
          <RecordFilterFields input={(name) => form.getInputProps(`filter.${name}`)} />
          {hasCondition(filter) && <FilterPreview values={filter} />}
        </>
      )}
      {over === 'all' && (
        <>
          <Notice kind="warning" title={`Every record of ${tenant} is held`}>
            Nobody can purge a record, retention rules erase none, and recovery periods stand still until the hold is
            released. Records that are written later are held too.
          </Notice>
          <FilterPreview values={noFilter} />
          <TextInput
            label={`Type ${tenant} to confirm`}
            required
            autoComplete="off"
            spellCheck={false}
            {...form.getInputProps('confirmation')}
          />
        </>
      )}
    </MutationForm>
  )
}
