import { Anchor, Badge, Group, Stack, Text, Title } from '@mantine/core'
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { HubRecord } from '../../api/hub-record.ts'
import { CopyText } from '../../ui/copy-text.tsx'
import { Member, Members } from '../../ui/description-list.tsx'
import { formatBytes, formatCount, formatMs, formatUsd } from '../../ui/formats.ts'
import { Notice } from '../../ui/notice.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { ChangeList } from '../governance/diff-table.tsx'
import { SubjectLink } from '../governance/subject-link.tsx'
import { ContentValue } from './content-value.tsx'

/** What a record says, by its type. */
export function RecordContent({ record }: { record: HubRecord }) {
  if (record.content_key_id !== undefined && record.content === 'unavailable')
    return <ContentUnavailable record={record} />
  const text = (member: string) => {
    const value = record[member]
    return typeof value === 'string' ? value : undefined
  }
  const number = (member: string) => {
    const value = record[member]
    return typeof value === 'number' ? value : undefined
  }
  const figure = (name: string, member: string, format: (value: number) => string) => {
    const value = number(member)
    return <Member name={name}>{value === undefined ? undefined : format(value)}</Member>
  }
  const made = (
    <>
      <Member name="Skill">{text('skill_id') && `${text('skill_id')} ${text('skill_version') ?? ''}`}</Member>
      <Member name="Archetype">{text('archetype_id')}</Member>
      <Member name="User">{text('user_id')?.replace(/^user:/, '')}</Member>
      <Member name="Platform">{text('llm_platform')}</Member>
      <Member name="Model">{text('llm_model')}</Member>
    </>
  )
  const parts: Record<HubRecord['record_type'], () => ReactNode> = {
    output: () => (
      <>
        <Members>
          <Member name="Title">{text('title')}</Member>
          {made}
          {figure('Cost', 'cost_usd_estimate', formatUsd)}
        </Members>
        <Content title="Content" value={record.content} type={text('content_type')} />
      </>
    ),
    artifact: () => (
      <>
        <Members>
          <Member name="Title">{text('title')}</Member>
          <Member name="Kept at">{text('uri') && <Address uri={text('uri')!} />}</Member>
          <Member name="Media type">{text('media_type')}</Member>
          {figure('Size', 'size_bytes', formatBytes)}
          <Member name="SHA-256">{text('sha256') && <CopyText value={text('sha256')!} label="Copy SHA-256" />}</Member>
        </Members>
        <Content title="Content" value={record.content} type={undefined} />
      </>
    ),
    decision: () => (
      <Members>
        <Member name="Decision">{text('decision_id')}</Member>
        <Member name="About">{text('decision_subject')}</Member>
        <Member name="Outcome">
          <b>{text('decision_outcome')}</b>
        </Member>
        <Member name="Why">
          <span style={{ whiteSpace: 'pre-wrap' }}>{text('decision_rationale')}</span>
        </Member>
        <Member name="Decided as">{text('decision_actor_role')}</Member>
      </Members>
    ),
    skill_definition: () => (
      <>
        <Members>
          <Member name="Name">{text('name')}</Member>
          <Member name="Skill">{text('skill_id')}</Member>
          <Member name="Version">{text('skill_version')}</Member>
          <Member name="Owner">{text('owner')}</Member>
          <Member name="What it does">{text('description')}</Member>
        </Members>
        <Content title="Manifest" value={record.manifest} type={undefined} />
      </>
    ),
    telemetry_event: () => (
      <>
        <Members>
          <Member name="Outcome">
            <Outcome success={record.success} code={text('error_code')} />
          </Member>
          {made}
          <Member name="Happened at">{text('ts') && <TimeText iso={text('ts')!} />}</Member>
          {figure('Latency', 'latency_ms', formatMs)}
          {figure('Tokens in', 'tokens_in', formatCount)}
          {figure('Tokens out', 'tokens_out', formatCount)}
          {figure('Tokens reported', 'tokens_total_reported', formatCount)}
          {figure('Estimated cost', 'cost_usd_estimate', formatUsd)}
          {figure('Computed cost', 'cost_usd_computed', formatUsd)}
          <Member name="Price from">{text('price_source')}</Member>
        </Members>
        <Content title="Metadata" value={record.metadata} type={undefined} />
      </>
    ),
    governance_event: () => <GovernanceContent record={record} />,
  }
  return (
    <Stack gap="md" component="section" aria-label="What it says">
      {(Object.hasOwn(parts, record.record_type) && parts[record.record_type]()) || (
        <Content title="Content" value={record.content} type={undefined} />
      )}
    </Stack>
  )
}

function ContentUnavailable({ record }: { record: HubRecord }) {
  return (
    <Stack gap="md" component="section" aria-label="What it says">
      <Notice kind="warning" title="The content is gone">
        The key that it was encrypted with was destroyed. Hash, cosignature and place in the log remain and prove that
        the record existed.
      </Notice>
      <Members>
        <Member name="Destroyed key">
          <CopyText value={String(record.content_key_id)} label="Copy destroyed key" />
        </Member>
      </Members>
    </Stack>
  )
}

function GovernanceContent({ record: { event_kind, subject, details } }: { record: HubRecord }) {
  const { before, after, ...rest } =
    typeof details === 'object' && details !== null ? (details as Record<string, unknown>) : {}
  return (
    <>
      <Members>
        <Member name="Kind">{typeof event_kind === 'string' ? event_kind : undefined}</Member>
        <Member name="About">
          <SubjectLink subject={typeof subject === 'string' ? subject : undefined} />
        </Member>
      </Members>
      {(before !== undefined || after !== undefined) && <ChangeList before={before} after={after} />}
      {Object.keys(rest).length > 0 && <Content title="Details" value={rest} type={undefined} />}
    </>
  )
}

function Content({ title, value, type }: { title: string; value: unknown; type: string | undefined }) {
  if (value === undefined) return null
  return (
    <div>
      <Group gap="xs" mb={4}>
        <Title order={2} size="h4">
          {title}
        </Title>
        {type && <Badge variant="default">{type}</Badge>}
      </Group>
      <ContentValue value={value} label={title} />
    </div>
  )
}

/** Whoever wrote the record chose the address: it is a link only where it leads to another page, by https. */
function Address({ uri }: { uri: string }) {
  if (!URL.canParse(uri) || new URL(uri).protocol !== 'https:') return <CopyText value={uri} label="Copy address" />
  return (
    <>
      <Anchor href={uri} target="_blank" rel="noopener noreferrer nofollow" inherit>
        {uri}
      </Anchor>
      <Text size="xs" c="dimmed">
        Leads away from the Hub, to {new URL(uri).host}.
      </Text>
    </>
  )
}

function Outcome({ success, code }: { success: unknown; code: string | undefined }) {
  const Icon = success === false ? IconCircleX : IconCircleCheck
  return (
    <Group gap={4}>
      <Icon size={16} aria-hidden />
      {success === false ? `Failed${code ? `: ${code}` : ''}` : 'Success'}
    </Group>
  )
}
