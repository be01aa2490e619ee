import { Checkbox, Radio, Stack, Text } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { useState } from 'react'
import * as v from 'valibot'
import { type RecordType, recordTypes } from '../../../contract/literals.ts'
import { visibleTypes } from '../../../contract/record-visibility.ts'
import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { fieldErrors } from '../../api/problem.ts'
import { queryClient } from '../../api/query-client.ts'
import { notifyDone } from '../../components/notify.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { type FilterValues, filterOf, filterValues, noFilter } from '../../components/record-filter.ts'
import { RecordFilterFields } from '../../components/record-filter-fields.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { FormButtons } from '../../ui/form-buttons.tsx'
import { type ExportFormat, formats } from './export-job.ts'
import type { ExportsSearch } from './exports-search.ts'

const schema = v.object({
  format: v.picklist(['jsonl', 'csv', 'parquet']),
  verify: v.boolean(),
  include_provenance: v.boolean(),
  filter: filterValues,
})

interface CreateExportProps {
  opened: boolean
  /** The values from the address of the page. */
  prefilled: ExportsSearch
  onClose(): void
  onCreated(jobId: string): void
}

export function CreateExport({ opened, ...rest }: CreateExportProps) {
  return (
    <Dialog opened={opened} onClose={rest.onClose} title="Create an export" size="xl">
      {opened && <CreateExportForm {...rest} />}
    </Dialog>
  )
}

function CreateExportForm({ prefilled, onClose, onCreated }: Omit<CreateExportProps, 'opened'>) {
  const { scopes } = useMe()
  const create = api.useMutation('post', '/api/v1/hub/records:export')
  const [failure, setFailure] = useState<unknown>()
  const form = useForm({
    initialValues: {
      format: prefilled.format ?? ('jsonl' as ExportFormat),
      verify: true,
      include_provenance: true,
      filter: valuesOf(prefilled, visibleTypes(scopes)),
    },
    validate: schemaResolver(schema, { sync: true }),
  })

  async function submit() {
    setFailure(undefined)
    const { filter, ...choices } = form.values
    const stored = { ...filterOf(filter), ...(prefilled.record_id && { record_id: prefilled.record_id }) }
    // A user who may not read all types must name the requested ones.
    const types = stored.record_type ?? visibleTypes(scopes)
    try {
      const job = await create.mutateAsync({
        body: { ...choices, filter: { ...stored, ...(types && { record_type: [...types] }) } },
      })
      await queryClient.invalidateQueries({ queryKey: ['get', '/api/v1/hub/exports'] })
      notifyDone('The export is requested.')
      onCreated(job.job_id)
    } catch (error) {
      form.setErrors(fieldErrors(error))
      setFailure(error)
    }
  }

  return (
    <form onSubmit={form.onSubmit(() => submit())} noValidate>
      <Stack>
        <Radio.Group label="Format" {...form.getInputProps('format')}>
          <Stack gap={8} mt={6}>
            {formats.map(({ value, label, about }) => (
              <Radio key={value} value={value} label={label} description={about} />
            ))}
          </Stack>
        </Radio.Group>
        <Checkbox
          label="Verify each record"
          description="The Hub verifies them as it writes, and each row says what came of it."
          {...form.getInputProps('verify', { type: 'checkbox' })}
        />
        <Checkbox
          label="Include provenance"
          description="Hash and cosignature of each record: without them rows cannot be verified one by one."
          {...form.getInputProps('include_provenance', { type: 'checkbox' })}
        />
        <div>
          <Text fw={600} size="sm" mb={4}>
            Which records
          </Text>
          <Text size="sm" c="dimmed" mb="sm">
            {prefilled.record_id
              ? `Only record ${prefilled.record_id}.`
              : 'Without any condition it has everything that you may read. Purged records are left out.'}
          </Text>
          <RecordFilterFields input={(name) => form.getInputProps(`filter.${name}`)} />
        </div>
        {failure !== undefined && (
          <ProblemNotice
            error={failure}
            title="The export was not requested"
            shownAtFields={Object.keys(form.errors)}
          />
        )}
        <FormButtons isDirty={() => form.isDirty()} submit="Create export" onCancel={onClose} busy={create.isPending} />
      </Stack>
    </form>
  )
}

/** Returns form values from the address, without types that are unknown or invisible to the user. */
function valuesOf(search: ExportsSearch, visible: readonly RecordType[] | undefined): FilterValues {
  const asked = (search.record_type ?? '').split(',')
  return {
    ...noFilter,
    record_type: (visible ?? recordTypes).filter((type) => asked.includes(type)),
    skill_id: search.skill_id ?? '',
    archetype_id: search.archetype_id ?? '',
    user_id: search.user_id ?? '',
    created_by: search.created_by ?? '',
    event_kind: search.event_kind ?? '',
    created_at__gte: search.created_at__gte ?? null,
    created_at__lt: search.created_at__lt ?? null,
  }
}
