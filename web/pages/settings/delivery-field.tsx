import { Radio, Stack } from '@mantine/core'
import type { GetInputPropsReturnType } from '@mantine/form'
import { api } from '../../api/api-client.ts'

interface DeliveryFieldProps {
  /** The properties of the field in its form. Its value is `default`, `link` or `none`. */
  input: GetInputPropsReturnType
  /** The address to invite; empty while nothing was typed. */
  email: string
  description?: string
  /** Offers to add the user without an invitation. */
  isOptional?: boolean
}

/** Asks how an invitation is delivered, and says what each choice does on this Hub. */
export function DeliveryField({ input, email, description, isOptional = false }: DeliveryFieldProps) {
  const tenant = api.useQuery('get', '/api/v1/tenant')
  const hasMailServer = tenant.data?.mail_server
  const to = email.trim() || 'the address above'
  const byMail = {
    value: 'default',
    label: 'Mail it',
    description: hasMailServer
      ? `The Hub mails the invitation to ${to}.`
      : `The Hub mails the invitation to ${to} if it has a mail server. Otherwise it shows a link.`,
  }
  const byLink = {
    value: 'link',
    label: 'Show a link to copy',
    description:
      hasMailServer === false
        ? 'This Hub has no mail server, so it shows a link. Hand it over yourself, for example by chat.'
        : 'The Hub shows a link. Hand it over yourself, for example by chat.',
  }
  const none = {
    value: 'none',
    label: 'Do not invite',
    description: 'Adds the user only. You can send an invitation later.',
  }
  const choices = [...(hasMailServer === false ? [] : [byMail]), byLink, ...(isOptional ? [none] : [])]
  // Without a mail server, the default is a link.
  const value = hasMailServer === false && input.value === 'default' ? 'link' : input.value
  return (
    <Radio.Group label="Invitation" description={description} {...input} value={value}>
      <Stack gap="xs" mt="xs">
        {choices.map((choice) => (
          <Radio key={choice.value} {...choice} style={{ overflowWrap: 'anywhere' }} />
        ))}
      </Stack>
    </Radio.Group>
  )
}
