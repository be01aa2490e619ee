import { Button, Group, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import * as v from 'valibot'
import { type ApiResponse, api } from '../../api/api-client.ts'
import { fieldErrors } from '../../api/problem.ts'
import { notifyDone } from '../../components/notify.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { QueryBoundary, SkeletonLines } from '../../components/query-boundary.tsx'
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

interface SettingsFormProps {
  provision: Provision
  /** True if never provisioned. The Hub's own flag is also false if the customer's key is lost. */
  isFirst: boolean
  isNext: boolean
  onDone(): void
}

function SettingsForm({ provision, isFirst, isNext, onDone }: SettingsFormProps) {
  const queryClient = useQueryClient()
  const save = api.useMutation('post', '/api/v1/hub/provision')
  const failure: unknown = save.error
  const needsKey = provision.mode === 'B' && !provision.cmek
  const form = useForm<{ retention_days: number | ''; provider: keyof typeof keyReferences; key_ref: string }>({
    initialValues: { retention_days: provision.retention_days ?? '', provider: 'local', key_ref: '' },
    validate: schemaResolver(needsKey ? settingsWithKey : settings, { sync: true }),
  })
  const submit = form.onSubmit(async ({ retention_days, provider, key_ref }) => {
    try {
      await save.mutateAsync({
        body: {
          ...(retention_days !== '' && { retention_days }),
          ...(needsKey && { cmek: { provider, key_ref: key_ref.trim() } }),
        },
      })
      notifyDone(
        isFirst ? 'The Hub is provisioned.' : needsKey ? 'The Hub has another key.' : 'The retention is changed.',
      )
      await queryClient.invalidateQueries()
      onDone()
    } catch (error) {
      const { 'cmek.key_ref': key_ref, 'cmek.provider': provider, cmek, ...rest } = fieldErrors(error)
      form.setErrors({ ...rest, key_ref: key_ref ?? cmek, provider })
    }
  })
  const keptDays = form.values.retention_days
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm" maw="40rem">
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
        {failure ? (
          <ProblemNotice error={failure} shownAtFields={['retention_days', 'cmek.key_ref', 'cmek.provider', 'cmek']} />
        ) : null}
        <Group gap="xs">
          <Button type="submit" size="xs" variant={isNext ? 'filled' : 'default'} loading={save.isPending}>
            {isFirst ? 'Provision the Hub' : needsKey ? 'Give the Hub this key' : 'Save'}
          </Button>
          {!isFirst && !needsKey && (
            <Button size="xs" variant="default" onClick={onDone}>
              Cancel
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  )
}
