import { Fieldset, NumberInput, Select, SimpleGrid, Stack, TagsInput, TextInput } from '@mantine/core'
import type { ChangeEvent } from 'react'
import { api, hub } from '../../api/api-client.ts'
import { patchBody } from '../../api/patch-body.ts'
import { MutationForm } from '../../components/mutation-form.tsx'
import { useMutationForm } from '../../components/use-mutation-form.ts'
import { AddressTest } from './address-test.tsx'
import { AlertRulesField } from './alert-rules-field.tsx'
import { EventsField } from './events-field.tsx'
import { formatLabels } from './format-labels.ts'
import {
  bodyOf,
  formatOfUrl,
  usesFilters,
  usesThreshold,
  valuesOf,
  type Webhook,
  webhookSchema,
} from './webhook-form.ts'

interface WebhookEditorProps {
  onClose(): void
  /** The endpoint to change; absent for a new one. */
  webhook?: Webhook
  onSaved(saved: Webhook): void
}

/** Adds an endpoint, or changes one. */
export function WebhookEditor({ onClose, webhook, onSaved }: WebhookEditorProps) {
  const form = useMutationForm({
    initialValues: valuesOf(webhook),
    schema: webhookSchema,
    send: (values, opened): Promise<{ data?: Webhook }> =>
      webhook
        ? hub.PATCH('/api/v1/webhooks/{webhook_id}', {
            params: { path: { webhook_id: webhook.webhook_id } },
            body: patchBody(bodyOf(values), bodyOf(opened)),
          })
        : hub.POST('/api/v1/webhooks', { body: bodyOf(values) }),
    done: webhook && 'The endpoint was changed.',
    refresh: ['/api/v1/webhooks'],
    onDone: onSaved,
  })
  const archetypes = api.useQuery('get', '/api/v1/roster/archetypes', { params: { query: { limit: 1000 } } })
  const skills = api.useQuery('get', '/api/v1/skill-entitlement/skills', { params: { query: { limit: 1000 } } })
  const { events } = form.values
  const url = form.getInputProps('url')
  const changeUrl = (event: ChangeEvent<HTMLInputElement>) => {
    url.onChange(event)
    const format = formatOfUrl(event.currentTarget.value)
    if (format !== undefined) form.setFieldValue('format', format)
  }

  return (
    <MutationForm
      form={form}
      submit={webhook ? 'Save changes' : 'Add endpoint'}
      failed={webhook ? 'The endpoint was not changed' : 'The endpoint was not added'}
      onCancel={onClose}
    >
      <TextInput
        label="Address"
        description="Messages are sent there by POST. It has to be public, and https outside development."
        placeholder="https://hooks.acme.example/hub"
        required
        data-autofocus
        {...url}
        onChange={changeUrl}
      />
      <Select
        label="Format"
        description="Chosen by itself for addresses of Slack and Microsoft Teams"
        allowDeselect={false}
        data={Object.entries(formatLabels).map(([value, label]) => ({ value, label }))}
        {...form.getInputProps('format')}
      />
      <AddressTest url={form.values.url} format={form.values.format} />
      <TextInput
        label="Description"
        description="What it is for, for those who come after you"
        {...form.getInputProps('description')}
      />
      <EventsField {...form.getInputProps('events')} value={events} />
      {(usesThreshold(events, 'skill.latency_exceeded') || usesThreshold(events, 'skill.cost_exceeded')) && (
        <Fieldset legend="Thresholds of single invocations">
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            {usesThreshold(events, 'skill.latency_exceeded') && (
              <NumberInput
                label="Took longer than, in ms"
                placeholder="30000"
                description="30,000 where empty"
                min={0}
                {...form.getInputProps('thresholds.latency_ms')}
              />
            )}
            {usesThreshold(events, 'skill.cost_exceeded') && (
              <NumberInput
                label="Cost more than, in US dollars"
                placeholder="1"
                description="1 where empty"
                min={0}
                {...form.getInputProps('thresholds.cost_usd')}
              />
            )}
          </SimpleGrid>
        </Fieldset>
      )}
      <AlertRulesField form={form} />
      {usesFilters(form.values) && (
        <Fieldset legend="Only of these">
          <Stack gap="sm">
            <TagsInput
              label="Skills"
              description="Narrows what begins with skill., alerts too. All where empty."
              data={skills.data?.items.map(({ skill_id }) => skill_id) ?? []}
              acceptValueOnBlur
              {...form.getInputProps('filters.skill_ids')}
            />
            <TagsInput
              label="Archetypes"
              description="Invocations by people of these archetypes. All where empty."
              data={archetypes.data?.items.map(({ archetype_id }) => archetype_id) ?? []}
              acceptValueOnBlur
              {...form.getInputProps('filters.archetype_ids')}
            />
          </Stack>
        </Fieldset>
      )}
    </MutationForm>
  )
}
