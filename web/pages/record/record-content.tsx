import { Anchor, Badge, Code, Group, Stack, Text, Title } from '@mantine/core'
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { HubRecord } from '../../api/hub-record.ts'
import { LinkText } from '../../components/link-text.tsx'
import type { UsageGroup } from '../../components/usage-address.ts'
import { UsageLink } from '../../components/usage-link.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { DescriptionItem, DescriptionList } from '../../ui/description-list.tsx'
import { formatBytes, formatCount, formatMs, formatUsd } from '../../ui/formats.ts'
import { Notice } from '../../ui/notice.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { DiffTable } from '../governance/diff-table.tsx'
import { SubjectLink } from '../governance/subject-link.tsx'
import { ContentValue } from './content-value.tsx'

/** Shows the content of a record, by its type. */
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
    return <DescriptionItem name={name}>{value === undefined ? undefined : format(value)}</DescriptionItem>
  }
  const usage = (group: UsageGroup, member: string) => text(member) && <UsageLink group={group} id={text(member)} />
  const made = (
    <>
      <DescriptionItem name="Skill">
        {text('skill_id') && (
          <>
            <UsageLink group="skill" id={text('skill_id')} /> {text('skill_version')}
          </>
        )}
      </DescriptionItem>
      <DescriptionItem name="Archetype">{usage('archetype', 'archetype_id')}</DescriptionItem>
      <DescriptionItem name="User">{usage('user', 'user_id')}</DescriptionItem>
      <DescriptionItem name="Platform">{text('llm_platform')}</DescriptionItem>
      <DescriptionItem name="Model">{usage('model', 'llm_model')}</DescriptionItem>
    </>
  )
  const parts: Record<HubRecord['record_type'], () => ReactNode> = {
    output: () => (
      <>
        <DescriptionList>
          <DescriptionItem name="Title">{text('title')}</DescriptionItem>
          {made}
          {figure('Reported cost', 'cost_usd_estimate', formatUsd)}
        </DescriptionList>
        <Content title="Content" value={record.content} type={text('content_type')} />
      </>
    ),
    artifact: () => (
      <>
        <DescriptionList>
          <DescriptionItem name="Title">{text('title')}</DescriptionItem>
          <DescriptionItem name="Kept at">{text('uri') && <Address uri={text('uri')!} />}</DescriptionItem>
          <DescriptionItem name="Media type">{text('media_type')}</DescriptionItem>
          {figure('Size', 'size_bytes', formatBytes)}
          <DescriptionItem name="SHA-256">
            {text('sha256') && <CopyText value={text('sha256')!} label="Copy SHA-256" />}
          </DescriptionItem>
        </DescriptionList>
        <Content title="Content" value={record.content} type={undefined} />
      </>
    ),
    decision: () => (
      <DescriptionList>
        <DescriptionItem name="Decision">{text('decision_id')}</DescriptionItem>
        <DescriptionItem name="About">{text('decision_subject')}</DescriptionItem>
        <DescriptionItem name="Outcome">
          <b>{text('decision_outcome')}</b>
        </DescriptionItem>
        <DescriptionItem name="Why">
          <span style={{ whiteSpace: 'pre-wrap' }}>{text('decision_rationale')}</span>
        </DescriptionItem>
        <DescriptionItem name="Decided as">{text('decision_actor_role')}</DescriptionItem>
      </DescriptionList>
    ),
    skill_definition: () => (
      <>
        <DescriptionList>
          <DescriptionItem name="Name">{text('name')}</DescriptionItem>
          <DescriptionItem name="Skill">{usage('skill', 'skill_id')}</DescriptionItem>
          <DescriptionItem name="Version">{text('skill_version')}</DescriptionItem>
          <DescriptionItem name="Owner">{text('owner')}</DescriptionItem>
          <DescriptionItem name="What it does">{text('description')}</DescriptionItem>
        </DescriptionList>
        <Content title="Manifest" value={record.manifest} type={undefined} />
      </>
    ),
    telemetry_event: () => (
      <>
        <DescriptionList>
          <DescriptionItem name="Result">
            <Outcome success={record.success} code={text('error_code')} />
          </DescriptionItem>
          {made}
          <DescriptionItem name="Happened at">{text('ts') && <TimeText iso={text('ts')!} />}</DescriptionItem>
          <DescriptionItem name="Session">
            {text('session_id') && (
              <LinkText to="/sessions/$sessionId" params={{ sessionId: text('session_id')! }} inherit>
                {text('session_id')}
              </LinkText>
            )}
          </DescriptionItem>
          <DescriptionItem name="Trace">
            {text('trace_id') && (
              <LinkText to="/traces/$traceId" params={{ traceId: text('trace_id')! }} inherit ff="monospace">
                {text('trace_id')}
              </LinkText>
            )}
          </DescriptionItem>
          {figure('Latency', 'latency_ms', formatMs)}
          {figure('Tokens in', 'tokens_in', formatCount)}
          {figure('Tokens out', 'tokens_out', formatCount)}
          {figure('Tokens reported', 'tokens_total_reported', formatCount)}
          {figure('Reported cost', 'cost_usd_estimate', formatUsd)}
          {figure('Calculated cost', 'cost_usd_computed', formatUsd)}
          <DescriptionItem name="Price from">{text('price_source')}</DescriptionItem>
        </DescriptionList>
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
      <DescriptionList>
        <DescriptionItem name="Destroyed key">
          <CopyText value={String(record.content_key_id)} label="Copy destroyed key" />
        </DescriptionItem>
      </DescriptionList>
    </Stack>
  )
}

function GovernanceContent({ record: { event_kind, subject, details } }: { record: HubRecord }) {
  const { before, after, ...rest } =
    typeof details === 'object' && details !== null ? (details as Record<string, unknown>) : {}
  return (
    <>
      <DescriptionList>
        <DescriptionItem name="Kind">
          {typeof event_kind === 'string' ? <Code>{event_kind}</Code> : undefined}
        </DescriptionItem>
        <DescriptionItem name="About">
          <SubjectLink subject={typeof subject === 'string' ? subject : undefined} />
        </DescriptionItem>
      </DescriptionList>
      {(before !== undefined || after !== undefined) && <DiffTable before={before} after={after} />}
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

/** Shows an address. The author of the record chose it, so it is a link only if it leads to another page by https. */
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
