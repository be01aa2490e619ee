import { ActionIcon, Button, Fieldset, NumberInput, Paper, Select, SimpleGrid, Stack, Text } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { webhookAlertsMax } from '../../../contract/limits.ts'
import { FieldsetError } from '../../ui/fieldset-error.tsx'
import { groupLabels, metricLabels } from './alert-labels.ts'
import { newRule, type WebhookValues } from './webhook-form.ts'

const options = (labels: Record<string, string>) => Object.entries(labels).map(([value, label]) => ({ value, label }))

/** Edits rules over time windows: each opens an alert for every skill, person or archetype above its threshold. */
export function AlertRulesField({ form }: { form: UseFormReturnType<WebhookValues> }) {
  const { alerts } = form.values
  return (
    <Fieldset legend="Alert rules">
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          An outage causes many single events. A rule sends one message when it begins and one when it is over.
        </Text>
        {alerts.map((rule, index) => (
          <Paper key={rule.key} withBorder p="sm" component="fieldset" aria-label={`Rule ${index + 1}`} pos="relative">
            <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" pr={36}>
              <Select
                label="What is measured"
                data={options(metricLabels)}
                allowDeselect={false}
                {...form.getInputProps(`alerts.${index}.metric`)}
              />
              <Select
                label="For each"
                data={options(groupLabels)}
                allowDeselect={false}
                {...form.getInputProps(`alerts.${index}.group_by`)}
              />
              <NumberInput
                label="Trigger above"
                description={units[rule.metric]}
                min={0}
                {...form.getInputProps(`alerts.${index}.above`)}
              />
              <NumberInput
                label="Resolve at or below"
                description="The same figure where empty"
                min={0}
                {...form.getInputProps(`alerts.${index}.recovers_at`)}
              />
              <NumberInput
                label="Window in minutes"
                description="15 to 1,440, in quarters of an hour"
                min={15}
                max={1440}
                step={15}
                {...form.getInputProps(`alerts.${index}.window_minutes`)}
              />
              <NumberInput
                label="Invocations at least"
                description="With fewer nothing opens; 20 where empty"
                min={1}
                {...form.getInputProps(`alerts.${index}.min_invocations`)}
              />
            </SimpleGrid>
            <ActionIcon
              variant="subtle"
              color="red"
              pos="absolute"
              top={8}
              right={8}
              aria-label={`Remove rule ${index + 1}`}
              onClick={() => form.removeListItem('alerts', index)}
            >
              <IconTrash size={16} />
            </ActionIcon>
          </Paper>
        ))}
        <FieldsetError>{form.errors.alerts}</FieldsetError>
        <Button
          variant="default"
          size="xs"
          w="fit-content"
          leftSection={<IconPlus size={14} />}
          disabled={alerts.length >= webhookAlertsMax}
          onClick={() => form.insertListItem('alerts', newRule())}
        >
          Add rule
        </Button>
      </Stack>
    </Fieldset>
  )
}

const units = {
  error_rate: 'Share that failed: 0.2 is 20%',
  latency_p95_ms: 'Milliseconds',
  cost_usd_per_hour: 'US dollars an hour',
}
