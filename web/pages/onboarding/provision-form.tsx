import { Box, Button, Group, NumberInput, Select, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import * as v from 'valibot'
import { type ApiResponse, api, hub } from '../../api/api-client.ts'
import { MutationForm } from '../../components/mutation-form.tsx'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
import { useMutationForm } from '../../components/use-mutation-form.ts'
import { formatCount } from '../../ui/formats.ts'
import type { Health } from './checklist-steps.ts'

type Provision = ApiResponse<'getProvision'>
const providers = [
  { value: 'local', label: 'A key file of the operator' },
  { value: 'aws-kms', label: 'AWS KMS' },
  { value: 'vault', label: 'Vault' },
] as const
const keyReferences = { local: 'main', 'aws-kms': 'arn:aws:kms:…', vault: 'the name of a transit key' } as const

const days = v.union([
  v.literal(''),
  v.pipe(
    v.number(),
    v.integer('Whole days.'),
    v.minValue(1, 'At least one day.'),
    v.maxValue(36_525, 'At most 36,525 days.'),
  ),
])
const settings = v.object({ retention_days: days, provider: v.string(), key_ref: v.string() })
const settingsWithKey = v.object({
  ...settings.entries,
  key_ref: v.pipe(v.string(), v.trim(), v.nonEmpty('Mode B needs a key of yours. Without it nothing can be written.')),
})

interface ProvisionFormProps {
  check: Health['checks']['hub']
  /** True for the next step of the checklist. */
  isNext: boolean
}

/**
 * Provisions the Hub. Afterwards, the same form changes how long records are kept, and sets another key if the former
 * one is lost.
 */
export function ProvisionForm({ check: { ok, provisioned }, isNext }: ProvisionFormProps) {
  const [opened, { open, close }] = useDisclosure(false)
  const provision = api.useQuery('get', '/api/v1/hub/provision', {}, { enabled: opened || !ok })
  if (ok && !opened) {
    return (
      <Group>
        <Button size="xs" variant="default" onClick={open}>
          Change retention
        </Button>
      </Group>
    )
  }
  return (
    <QueryBoundary query={provision} what="settings" skeleton={<SkeletonLines lines={2} height={56} />}>
      {(data) => <SettingsForm provision={data} isFirst={!provisioned} isNext={isNext || ok} onDone={close} />}
    </QueryBoundary>
  )
}

/** The fields of the members of a key. */
const fields: Record<string, string> = { cmek: 'key_ref', 'cmek.key_ref': 'key_ref', 'cmek.provider': 'provider' }

interface SettingsFormProps {
  provision: Provision
  /** True if never provisioned. The Hub's own flag is also false if the customer's key is lost. */
  isFirst: boolean
  isNext: boolean
  onDone(): void
}

function SettingsForm({ provision, isFirst, isNext, onDone }: SettingsFormProps) {
  const needsKey = provision.mode === 'B' && !provision.cmek
  const form = useMutationForm({
    initialValues: {
      retention_days: provision.retention_days ?? ('' as const),
      provider: 'local' as keyof typeof keyReferences,
      key_ref: '',
    },
    schema: needsKey ? settingsWithKey : settings,
    fieldOf: (member) => fields[member],
    send: ({ retention_days, provider, key_ref }) =>
      hub.POST('/api/v1/hub/provision', {
        body: {
          ...(retention_days !== '' && { retention_days }),
          ...(needsKey && { cmek: { provider, key_ref: key_ref.trim() } }),
        },
      }),
    done: isFirst ? 'The Hub is provisioned.' : needsKey ? 'The Hub has another key.' : 'The retention is changed.',
    refresh: 'everything',
    onDone,
  })
  const keptDays = form.values.retention_days
  return (
    <Box maw="40rem">
      <MutationForm
        form={form}
        submit="Save"
        failed="The settings were not saved"
        gap="sm"
        buttons={
          <Group gap="xs">
            <Button type="submit" size="xs" variant={isNext ? 'filled' : 'default'} loading={form.busy}>
              {isFirst ? 'Provision the Hub' : needsKey ? 'Give the Hub this key' : 'Save'}
            </Button>
            {!isFirst && !needsKey && (
              <Button size="xs" variant="default" onClick={onDone}>
                Cancel
              </Button>
            )}
          </Group>
        }
      >
        <NumberInput
          label="Records are kept for (days)"
          description={
            typeof keptDays === 'number' && keptDays > 0
              ? `About ${formatCount(Math.max(1, Math.round(keptDays / 365)))} ${keptDays < 548 ? 'year' : 'years'}. Rules by type of record are under Governance → Retention.`
              : 'Left empty, the default of the service holds.'
          }
          min={1}
          max={36_525}
          allowDecimal={false}
          thousandSeparator=","
          {...form.getInputProps('retention_days')}
        />
        {needsKey && (
          <Group align="flex-start" grow preventGrowOverflow={false}>
            <Select label="Key management" data={providers} allowDeselect={false} {...form.getInputProps('provider')} />
            <TextInput
              label="Key"
              required
              placeholder={keyReferences[form.values.provider]}
              description="It wraps the keys that content is encrypted with."
              {...form.getInputProps('key_ref')}
            />
          </Group>
        )}
        {provision.mode === 'C' && (
          <Text size="sm" c="dimmed">
            In mode C no content is stored, so nothing needs a key here.
          </Text>
        )}
      </MutationForm>
    </Box>
  )
}
