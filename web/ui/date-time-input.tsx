import '@mantine/dates/styles.css'
import { DateTimePicker, type DateTimePickerProps } from '@mantine/dates'
import dayjs from 'dayjs'

interface MomentInputProps extends Omit<DateTimePickerProps, 'value' | 'defaultValue' | 'onChange'> {
  /** RFC 3339 in UTC; undefined if empty. */
  value?: string | undefined
  onChange(iso: string | undefined): void
}

/** An input for a point in time, shown in the user's time zone and returned in UTC for the Hub. */
export function DateTimeInput({ value, onChange, ...rest }: MomentInputProps) {
  return (
    <DateTimePicker
      valueFormat="D MMM YYYY HH:mm"
      clearable
      clearButtonProps={{ 'aria-label': 'Clear' }}
      popoverProps={{ withinPortal: true }}
      {...rest}
      value={value && dayjs(value).isValid() ? dayjs(value).format('YYYY-MM-DD HH:mm:ss') : null}
      onChange={(chosen) => onChange(chosen ? dayjs(chosen).toISOString() : undefined)}
    />
  )
}
