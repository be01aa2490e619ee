import { Fieldset, NumberInput, SimpleGrid, Stack, TagsInput, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { useState } from 'react'
import { api, hub } from '../../api/api-client.ts'
import { patchBody } from '../../api/patch-body.ts'
import { fieldErrors } from '../../api/problem.ts'
import { ProblemNotice } from '../../components/problem-notice.tsx'
import { SidePanel } from '../../ui/dialog.tsx'
import { FormButtons } from '../../ui/form-buttons.tsx'
import { AlertRulesField } from './alert-rules-field.tsx'
import { EventsField } from './events-field.tsx'
import { refreshWebhooks } from './refresh-webhooks.ts'
import { bodyOf, usesFilters, usesThreshold, valuesOf, type Webhook, webhookSchema } from './webhook-form.ts'

interface WebhookEditorProps {
  opened: boolean
  onClose(): void
  /** The endpoint to change; absent for a new one. */
  webhook?: Webhook
  onSaved(saved: Webhook): void
}

/** Adds an endpoint, or changes one. */
export function WebhookEditor({ opened, onClose, webhook, onSaved }: WebhookEditorProps) {
  return (
    <SidePanel
      opened={opened}
      onClose={onClose}
      title={webhook ? 'Edit endpoint' : 'Add endpoint'}
      size="lg"
      closeOnClickOutside={false}
    >
      {opened && <EditorForm onClose={onClose} onSaved={onSaved} {...(webhook && { webhook })} />}
    </SidePanel>
  )
}

function EditorForm({ onClose, webhook, onSaved }: Omit<WebhookEditorProps, 'opened'>) {
  const form = useForm({
    initialValues: valuesOf(webhook),
    validate: schemaResolver(webhookSchema, { sync: true }),
  })
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const archetypes = api.useQuery('get', '/api/v1/roster/archetypes', { params: { query: { limit: 1000 } } })
  const skills = api.useQuery('get', '/api/v1/skill-entitlement/skills', { params: { query: { limit: 1000 } } })
  const { events } = form.values

  async function save() {
    setBusy(true)
    setFailure(undefined)
    try {
      const body = bodyOf(form.values)
      const { data } = webhook
        ? await hub.PATCH('/api/v1/webhooks/{webhook_id}', {
            params: { path: { webhook_id: webhook.webhook_id } },
            body: patchBody(body, bodyOf(form.getInitialValues())),
          })
        : await hub.POST('/api/v1/webhooks', { body })
      await refreshWebhooks()
      if (data) onSaved(data)
    } catch (error) {
      const errors = fieldErrors(error)
      const [, ofEvents] = Object.entries(errors).find(([path]) => path.startsWith('events.')) ?? []
      form.setErrors({ ...errors, ...(ofEvents && { events: `An event ${ofEvents}` }) })
      setFailure(error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <form onSubmit={form.onSubmit(() => void save())} noValidate>
      <Stack>
        <TextInput
          label="Address"
          description="Messages are sent there by POST. It has to be public, and https outside development."
          placeholder="https://hooks.acme.example/hub"
          required
          data-autofocus
          {...form.getInputProps('url')}
        />
        <TextInput
          label="Description"
          description="What it is for, for those who come after you"
          {...form.getInputProps('description')}
        />
        <EventsField
          value={events}
          onChange={(chosen) => form.setFieldValue('events', chosen)}
          error={form.errors.events}
        />
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
        {failure !== undefined && (
          <ProblemNotice
            error={failure}
            title={webhook ? 'The endpoint was not changed' : 'The endpoint was not added'}
            shownAtFields={Object.keys(form.errors)}
          />
        )}
        <FormButtons
          isDirty={() => form.isDirty()}
          submit={webhook ? 'Save changes' : 'Add endpoint'}
          onCancel={onClose}
          busy={busy}
        />
      </Stack>
    </form>
  )
}
