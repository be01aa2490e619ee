import '@mantine/dates/styles.css'
import { Button, Group, Stack, Text } from '@mantine/core'
import { DatePicker, TimeInput } from '@mantine/dates'
import { schemaResolver, useForm } from '@mantine/form'
import * as v from 'valibot'
import { customRange, longestDays, quarterHourMs, type Span } from './ranges.ts'
import { timeZone } from './use-metrics.ts'

// The calendar's form of a day, YYYY-MM-DD, and the form of time inputs, HH:mm; both in the user's time zone.
const day = v.nullable(v.string())
const time = v.pipe(v.string(), v.regex(/^\d\d:\d\d/, 'A time of day, such as 09:15.'))

interface Values {
  days: [string | null, string | null]
  fromTime: string
  toTime: string
}

const schema = v.pipe(
  v.object({ days: v.tuple([day, day]), fromTime: time, toTime: time }),
  v.forward(
    v.check(({ days: [from, to] }) => from !== null && to !== null, 'Choose the first and the last day.'),
    ['days'],
  ),
  v.forward(
    v.check((values) => !(msOf(values).from >= msOf(values).to), 'It ends after it begins.'),
    ['toTime'],
  ),
  v.forward(
    v.check(
      (values) => !(msOf(values).to - msOf(values).from > longestDays * 86_400_000),
      `At most ${longestDays} days.`,
    ),
    ['days'],
  ),
)

function msOf({ days: [from, to], fromTime, toTime }: Values): Span {
  return { from: new Date(`${from}T${fromTime}`).getTime(), to: new Date(`${to}T${toTime}`).getTime() }
}

/** Selects any range, in the user's time zone. */
export default function CustomRange({ span, onChoose }: { span: Span; onChoose(span: Span): void }) {
  const [from, to] = [valuesOf(span.from), valuesOf(Math.min(span.to, Date.now() + quarterHourMs))]
  const form = useForm<Values>({
    initialValues: { days: [from.day, to.day], fromTime: from.time, toTime: to.time },
    validate: schemaResolver(schema, { sync: true }),
  })
  const choose = form.onSubmit((values) => {
    const { from, to } = msOf(values)
    const range = customRange(from, to)
    if (range) onChoose(range)
  })
  return (
    <form onSubmit={choose} noValidate>
      <Stack gap="sm" w={280}>
        <DatePicker
          type="range"
          allowSingleDateInRange
          hideOutsideDates
          weekendDays={[]}
          aria-label="First and last day"
          ariaLabels={{ previousMonth: 'Month before', nextMonth: 'Month after' }}
          previousLabel="Before"
          nextLabel="After"
          {...form.getInputProps('days')}
        />
        {form.errors.days && (
          <Text size="xs" c="var(--mantine-color-error)" role="alert">
            {form.errors.days}
          </Text>
        )}
        <Group grow gap="sm" align="flex-start">
          <TimeInput label="From" {...form.getInputProps('fromTime')} />
          <TimeInput label="To" {...form.getInputProps('toTime')} />
        </Group>
        <Text size="xs" c="dimmed">
          {`In your time zone, ${timeZone}. The Hub keeps sums by quarters of an hour, so it is widened to those.`}
        </Text>
        <Button type="submit" size="xs">
          Show
        </Button>
      </Stack>
    </form>
  )
}

function valuesOf(ms: number): { day: string; time: string } {
  const date = new Date(Math.floor(ms / quarterHourMs) * quarterHourMs)
  const two = (value: number) => String(value).padStart(2, '0')
  return {
    day: `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`,
    time: `${two(date.getHours())}:${two(date.getMinutes())}`,
  }
}
