import '@mantine/dates/styles.css'
import { Button, Stack, Text } from '@mantine/core'
import { DateTimePicker } from '@mantine/dates'
import { schemaResolver, useForm } from '@mantine/form'
import * as v from 'valibot'
import { customRange, longestDays, quarterMs, type Span } from './ranges.ts'
import { timeZone } from './use-figures.ts'

// The picker's own form of a moment in the reader's zone: YYYY-MM-DD HH:mm:ss.
const moment = v.pipe(v.string('Choose a day and a time.'), v.minLength(1, 'Choose a day and a time.'))
const msOf = (value: string) => new Date(value.replace(' ', 'T')).getTime()

const schema = v.pipe(
  v.object({ from: moment, to: moment }),
  v.forward(
    v.check(({ from, to }) => msOf(from) < msOf(to), 'It ends after it begins.'),
    ['to'],
  ),
  v.forward(
    v.check(({ from, to }) => msOf(to) - msOf(from) <= longestDays * 86_400_000, `At most ${longestDays} days.`),
    ['from'],
  ),
)

/** Any range, by the clock of the reader. */
export default function CustomRange({ span, onChoose }: { span: Span; onChoose(span: Span): void }) {
  const form = useForm({
    initialValues: { from: pickerValue(span.from), to: pickerValue(Math.min(span.to, Date.now() + quarterMs)) },
    validate: schemaResolver(schema, { sync: true }),
  })
  const fields = { valueFormat: 'YYYY-MM-DD HH:mm', popoverProps: { withinPortal: false }, w: 280 }
  return (
    <form
      onSubmit={form.onSubmit(({ from, to }) => {
        const range = customRange(msOf(from), msOf(to))
        if (range) onChoose(range)
      })}
    >
      <Stack gap="sm">
        <DateTimePicker label="From" {...fields} {...form.getInputProps('from')} />
        <DateTimePicker label="To" {...fields} {...form.getInputProps('to')} />
        <Text size="xs" c="dimmed" maw={280}>
          {`In your time zone, ${timeZone}. The Hub keeps sums by quarters of an hour, so it is widened to those.`}
        </Text>
        <Button type="submit" size="xs">
          Show
        </Button>
      </Stack>
    </form>
  )
}

function pickerValue(ms: number): string {
  const date = new Date(Math.floor(ms / quarterMs) * quarterMs)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}:00`
}
