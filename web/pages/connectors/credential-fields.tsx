import { ActionIcon, Autocomplete, Button, Fieldset, Group, PasswordInput, Stack, Text } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { credentialsMax } from '../../../contract/limits.ts'
import { FieldsetError } from '../../ui/fieldset-error.tsx'

export interface Credential {
  name: string
  value: string
}

interface CredentialFieldsProps {
  value: readonly Credential[]
  onChange(next: Credential[]): void
  error?: string | undefined
}

const known = ['bearer_token', 'api_key', 'signing_secret', 'anthropic_api_key']

/** Edits credentials by their names. They are write-only and never shown again. */
export function CredentialFields({ value, onChange, error }: CredentialFieldsProps) {
  const change = (at: number, next: Partial<Credential>) =>
    onChange(value.map((each, index) => (index === at ? { ...each, ...next } : each)))
  return (
    <Fieldset legend="Credentials">
      <Stack gap="xs">
        <Text size="sm" c="dimmed">
          What the Hub shows to the platform. They are kept sealed, and can be replaced but not read.
        </Text>
        {value.map((credential, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name before one is typed
          <Group key={index} gap="xs" align="flex-end" wrap="nowrap">
            <Autocomplete
              label="Name"
              data={known}
              flex={1}
              miw={0}
              value={credential.name}
              onChange={(name) => change(index, { name })}
            />
            <PasswordInput
              label="Value"
              autoComplete="off"
              flex={1}
              miw={0}
              value={credential.value}
              onChange={(event) => change(index, { value: event.currentTarget.value })}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              size={36}
              aria-label={`Remove credential ${credential.name || index + 1}`}
              onClick={() => onChange(value.filter((_, at) => at !== index))}
            >
              <IconTrash size={16} />
            </ActionIcon>
          </Group>
        ))}
        <FieldsetError>{error}</FieldsetError>
        <Group>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconPlus size={14} />}
            disabled={value.length >= credentialsMax}
            onClick={() => onChange([...value, { name: value.length === 0 ? 'bearer_token' : '', value: '' }])}
          >
            Add credential
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  )
}

/** Returns credentials in the API's form; undefined if none is filled in, so that stored ones stay. */
export function credentialsOf(value: readonly Credential[]): Record<string, string> | undefined {
  const filled = value.filter((credential) => credential.name.trim() !== '' && credential.value !== '')
  return filled.length === 0 ? undefined : Object.fromEntries(filled.map((each) => [each.name.trim(), each.value]))
}
