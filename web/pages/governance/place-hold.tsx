import { SegmentedControl, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { useState } from 'react'
import * as v from 'valibot'
import { holdNameLengthMax, holdRecordsMax } from '../../../contract/limits.ts'
import { patterns } from '../../../contract/literals.ts'
import { api } from '../../api/hub.ts'
import { fieldErrors } from '../../api/problem.ts'
import { queryClient } from '../../api/query-client.ts'
import { notifyDone } from '../../components/notify.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { filterOf, filterValues, noFilter } from '../../components/record-filter.ts'
import { RecordFilterFields } from '../../components/record-filter-fields.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { FormButtons } from '../../ui/form-buttons.tsx'
import { FilterPreview } from './filter-preview.tsx'

const uuid = new RegExp(patterns.uuid)
const idsIn = (text: string) => [...new Set(text.split(/[\s,;]+/).filter((id) => id !== ''))]

const common = {
  name: v.pipe(
    v.string(),
    v.trim(),
    v.nonEmpty('Say which matter it is for.'),
    v.maxLength(holdNameLengthMax, `At most ${holdNameLengthMax} characters.`),
  ),
  reason: v.pipe(v.string(), v.trim(), v.nonEmpty('Say why.'), v.maxLength(500, 'At most 500 characters.')),
}
const schema = v.variant('over', [
  v.object({
    ...common,
    over: v.literal('records'),
    filter: v.any(),
    record_ids: v.pipe(
      v.string(),
      v.check((text) => idsIn(text).length > 0, 'Name at least one record.'),
      v.check((text) => idsIn(text).length <= holdRecordsMax, `A hold names at most ${holdRecordsMax} records.`),
      v.check(
        (text) => idsIn(text).every((id) => uuid.test(id)),
        ({ input }) => `This is no id of a record: ${idsIn(String(input)).find((id) => !uuid.test(id))}`,
      ),
    ),
  }),
  v.object({ ...common, over: v.literal('filter'), filter: filterValues, record_ids: v.any() }),
])

interface PlaceHoldProps {
  opened: boolean
  recordIds: readonly string[]
  /** With the id of the hold, where one was placed. */
  onClose(placed?: string): void
}

export function PlaceHold({ opened, onClose, recordIds }: PlaceHoldProps) {
  return (
    <Dialog opened={opened} onClose={() => onClose()} title="Place a legal hold" size="xl">
      {opened && <PlaceHoldForm onClose={onClose} recordIds={recordIds} />}
    </Dialog>
  )
}

function PlaceHoldForm({ onClose, recordIds }: Omit<PlaceHoldProps, 'opened'>) {
  const place = api.useMutation('post', '/api/v1/hub/legal-holds')
  const [failure, setFailure] = useState<unknown>()
  const form = useForm({
    initialValues: {
      name: '',
      reason: '',
      over: recordIds.length > 0 ? 'records' : 'filter',
      record_ids: recordIds.join('\n'),
      filter: noFilter,
    },
    validate: schemaResolver(schema, { sync: true }),
  })
  const { over, filter, record_ids } = form.values
  const count = idsIn(record_ids).length

  async function submit() {
    setFailure(undefined)
    const { name, reason } = form.values
    const scope = over === 'records' ? { record_ids: idsIn(record_ids) } : { filter: filterOf(filter) }
    try {
      const placed = await place.mutateAsync({ body: { name: name.trim(), reason: reason.trim(), ...scope } })
      await queryClient.invalidateQueries({ queryKey: ['get', '/api/v1/hub/legal-holds'] })
      notifyDone(`“${placed.name}” is in force.`)
      onClose(placed.hold_id)
    } catch (error) {
      form.setErrors(fieldErrors(error))
      setFailure(error)
    }
  }

  return (
    <form onSubmit={form.onSubmit(() => submit())} noValidate>
      <Stack>
        <TextInput
          label="Matter"
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
          aria-label="What the hold is over"
          data={[
            { value: 'filter', label: 'All that match a filter' },
            { value: 'records', label: 'Records by id' },
          ]}
          {...form.getInputProps('over')}
        />
        {over === 'records' ? (
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
        ) : (
          <>
            <Text size="sm" c="dimmed">
              The hold also covers records that match and are written later. Without any condition it is over everything
              the tenant has.
            </Text>
            <RecordFilterFields input={(name) => form.getInputProps(`filter.${name}`)} />
            <FilterPreview values={filter} />
          </>
        )}
        {failure !== undefined && (
          <ProblemNotice error={failure} title="The hold was not placed" shownAtFields={Object.keys(form.errors)} />
        )}
        <FormButtons
          isDirty={() => form.isDirty()}
          submit="Place hold"
          onCancel={() => onClose()}
          busy={place.isPending}
        >
          <Text size="sm" c="dimmed">
            {over === 'records' && count > 0 ? `${count.toLocaleString()} named` : ''}
          </Text>
        </FormButtons>
      </Stack>
    </form>
  )
}
