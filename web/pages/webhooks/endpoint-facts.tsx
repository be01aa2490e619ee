import { List, Paper, SimpleGrid, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { DescriptionItem, DescriptionList } from '../../ui/description-list.tsx'
import { nothing } from '../../ui/formats.ts'
import { Notice } from '../../ui/notice.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { describeRule } from './alert-labels.ts'
import { formatHealthCount, HealthBadge, healthNote } from './endpoint-health.tsx'
import { formatLabels } from './format-labels.ts'
import { usesThreshold, type Webhook } from './webhook-form.ts'

/** Shows the health and the configuration of an endpoint. */
export function EndpointFacts({ webhook }: { webhook: Webhook }) {
  const { health, former_secret_until } = webhook
  const note = healthNote(webhook)
  return (
    <Stack gap="md">
      {note && (
        <Notice
          kind={health.status === 'failing' || health.overflowing_since ? 'danger' : 'info'}
          title={health.status === 'disabled' ? 'The endpoint is disabled' : 'Deliveries fail'}
        >
          <Text size="sm">{note}</Text>
        </Notice>
      )}
      {former_secret_until && (
        <Notice kind="info" title="Messages have two signatures">
          <Text size="sm">
            The secret was rotated. The former one is good until <TimeText iso={former_secret_until} />.
          </Text>
        </Notice>
      )}
      <Paper withBorder p="md">
        <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="md">
          <Figure label="Health">
            <HealthBadge status={health.status} />
          </Figure>
          <Figure label="Waiting">{formatHealthCount(health.pending)}</Figure>
          <Figure label="Failed permanently">{formatHealthCount(health.dead)}</Figure>
          <Figure label="Last delivered">
            {health.last_delivered_at ? <TimeText iso={health.last_delivered_at} form="ago" /> : nothing}
          </Figure>
        </SimpleGrid>
      </Paper>
      <Settings webhook={webhook} />
    </Stack>
  )
}

function Figure({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed" mb={2}>
        {label}
      </Text>
      <Text component="div" size="sm" fw={600} style={{ fontVariantNumeric: 'tabular-nums' }}>
        {children}
      </Text>
    </div>
  )
}

function Settings({ webhook }: { webhook: Webhook }) {
  const { events, format = 'hub', thresholds, filters, alerts = [], created_at } = webhook
  const latency = usesThreshold(events, 'skill.latency_exceeded') && (thresholds?.latency_ms ?? 30_000)
  const cost = usesThreshold(events, 'skill.cost_exceeded') && (thresholds?.cost_usd ?? 1)
  const only = [
    filters?.skill_ids && `skills ${filters.skill_ids.join(', ')}`,
    filters?.archetype_ids && `archetypes ${filters.archetype_ids.join(', ')}`,
  ].filter((each) => each !== undefined)
  return (
    <Paper withBorder p="md">
      <DescriptionList>
        <DescriptionItem name="Format">{formatLabels[format]}</DescriptionItem>
        <DescriptionItem name="Events">{events.join(', ') || 'alerts only'}</DescriptionItem>
        {(latency !== false || cost !== false) && (
          <DescriptionItem name="Thresholds">
            {[
              latency !== false && `took longer than ${latency.toLocaleString()} ms`,
              cost !== false && `cost more than $${cost}`,
            ]
              .filter(Boolean)
              .join('; ')}
          </DescriptionItem>
        )}
        {alerts.length > 0 && (
          <DescriptionItem name="Alert rules">
            <List size="sm" listStyleType="none">
              {alerts.map((rule) => (
                <List.Item key={JSON.stringify(rule)}>{describeRule(rule)}</List.Item>
              ))}
            </List>
          </DescriptionItem>
        )}
        {only.length > 0 && <DescriptionItem name="Only of">{only.join('; ')}</DescriptionItem>}
        <DescriptionItem name="Added">
          <TimeText iso={created_at} />
        </DescriptionItem>
      </DescriptionList>
    </Paper>
  )
}
