import { SegmentedControl, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { useState } from 'react'
import { holdRecordsMax } from '../../../../contract/limits.ts'
import { api } from '../../../api/api-client.ts'
import { useMe } from '../../../api/me.ts'
import { fieldErrors } from '../../../api/problem.ts'
import { queryClient } from '../../../api/query-client.ts'
import { notifyDone } from '../../../components/notify.ts'
import { ProblemNotice } from '../../../components/problem-notice.tsx'
import { RecordFilterFields } from '../../../components/record-filter-fields.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { FormButtons } from '../../../ui/form-buttons.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { FilterPreview } from './filter-preview.tsx'
import { emptyHold, hasCondition, holdBody, holdValuesOf, idsIn } from './hold-values.ts'

interface PlaceHoldProps {
  opened: boolean
  recordIds: readonly string[]
  /** Called with the id of the hold if one was placed. */
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
  const { tenant } = useMe()
  const form = useForm({
    initialValues: emptyHold(recordIds),
    validate: schemaResolver(holdValuesOf(tenant), { sync: true }),
  })
  const { over, filter, record_ids } = form.values
  const count = idsIn(record_ids).length

  async function submit() {
    setFailure(undefined)
    try {
      const placed = await place.mutateAsync({ body: holdBody(form.values) })
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
            { value: 'filter', label: 'By filter' },
            { value: 'records', label: 'Records by id' },
            { value: 'all', label: 'All records' },
          ]}
          {...form.getInputProps('over')}
        />
        {over === 'records' && (
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
            <TextInput
              label={`Type ${tenant} to confirm`}
              required
              autoComplete="off"
              spellCheck={false}
              {...form.getInputProps('confirmation')}
            />
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
