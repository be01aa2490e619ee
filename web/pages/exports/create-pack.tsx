import { Checkbox, Textarea } from '@mantine/core'
import dayjs from 'dayjs'
import * as v from 'valibot'
import { evidenceNoteLengthMax, evidencePackDaysMax } from '../../../contract/limits.ts'
import { hub } from '../../api/api-client.ts'
import { MutationForm } from '../../components/mutation-form.tsx'
import { useMutationForm } from '../../components/use-mutation-form.ts'
import { DateTimeInput } from '../../ui/date-time-input.tsx'

const schema = v.pipe(
  v.object({
    from: v.pipe(v.string(), v.minLength(1, 'Choose the start of the period.')),
    to: v.pipe(v.string(), v.minLength(1, 'Choose the end of the period.')),
    note: v.pipe(v.string(), v.maxLength(evidenceNoteLengthMax, `At most ${evidenceNoteLengthMax} characters.`)),
    include_content: v.boolean(),
  }),
  v.forward(
    v.check(({ from, to }) => dayjs(from).isBefore(to), 'The end must be later than the start.'),
    ['to'],
  ),
)

/** Returns the last six whole months, the period for which the EU AI Act asks at least. */
function lastMonths() {
  const to = dayjs().startOf('month')
  return { from: to.subtract(6, 'month').toISOString(), to: to.toISOString() }
}

interface CreatePackProps {
  /** The period from the address of the page; the last six whole months if it names none. */
  period: { from?: string | undefined; to?: string | undefined }
  onClose(): void
  onCreated(jobId: string): void
}

/** Requests an evidence pack of a period. */
export function CreatePack({ period: { from, to }, onClose, onCreated }: CreatePackProps) {
  const form = useMutationForm({
    initialValues: { ...(from && to ? { from, to } : lastMonths()), note: '', include_content: false },
    schema,
    send: ({ note, ...period }) =>
      hub.POST('/api/v1/hub/evidence-packs', { body: { ...period, ...(note.trim() && { note: note.trim() }) } }),
    done: 'The evidence pack is requested.',
    refresh: ['/api/v1/hub/exports'],
    onDone: ({ job_id }) => onCreated(job_id),
  })
  const moment = (name: 'from' | 'to', label: string, description: string) => {
    const { value, onChange, ...field } = form.getInputProps(name)
    return (
      <DateTimeInput
        {...{ label, description }}
        {...field}
        value={value || undefined}
        onChange={(iso) => onChange(iso ?? '')}
      />
    )
  }
  return (
    <MutationForm
      form={form}
      submit="Create evidence pack"
      failed="The evidence pack was not requested"
      onCancel={onClose}
    >
      {moment('from', 'From', `At most ${evidencePackDaysMax} days before the end`)}
      {moment('to', 'To (exclusive)', 'Not in the future')}
      <Textarea
        label="Note"
        description="Purpose of the pack, for its readers"
        autosize
        minRows={2}
        {...form.getInputProps('note')}
      />
      <Checkbox
        label="Include content"
        description="The content of decisions, outputs, artifacts and skill definitions. Without it the pack has their hashes and proofs."
        {...form.getInputProps('include_content', { type: 'checkbox' })}
      />
    </MutationForm>
  )
}
