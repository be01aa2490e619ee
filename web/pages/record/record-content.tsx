import { Anchor, Badge, Group, Stack, Text, Title } from '@mantine/core'
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { CopyText } from '../../ui/copy-text.tsx'
import { formatBytes, formatCount, formatMs, formatUsd } from '../../ui/formats.ts'
import { TimeText } from '../../ui/time-text.tsx'
import { ChangeList } from '../governance/change-list.tsx'
import { SubjectLink } from '../governance/subject-link.tsx'
import type { HubRecord } from '../records/columns.tsx'
import { ContentValue } from './content-value.tsx'
import { type Member, MemberList } from './member-list.tsx'

/** What a record says, by its type. */
export function RecordContent({ record }: { record: HubRecord }) {
  const text = (member: string) => {
    const value = record[member]
    return typeof value === 'string' ? value : undefined
  }
  const number = (member: string) => {
    const value = record[member]
    return typeof value === 'number' ? value : undefined
  }
  const figure = (name: string, member: string, format: (value: number) => string): Member => {
    const value = number(member)
    return { name, value: value === undefined ? undefined : format(value) }
  }
  const made: Member[] = [
    { name: 'Skill', value: text('skill_id') && `${text('skill_id')} ${text('skill_version') ?? ''}` },
    { name: 'Archetype', value: text('archetype_id') },
    { name: 'User', value: text('user_id')?.replace(/^user:/, '') },
    { name: 'Platform', value: text('llm_platform') },
    { name: 'Model', value: text('llm_model') },
  ]
  const parts: Record<HubRecord['record_type'], () => ReactNode> = {
    output: () => (
      <>
        <MemberList members={[...made, figure('Cost', 'cost_usd_estimate', formatUsd)]} />
        <Content title="Content" value={record.content} type={text('content_type')} />
      </>
    ),
    artifact: () => (
      <>
        <MemberList
          members={[
            { name: 'Kept at', value: text('uri') && <Address uri={text('uri')!} /> },
            { name: 'Media type', value: text('media_type') },
            figure('Size', 'size_bytes', formatBytes),
            { name: 'SHA-256', value: text('sha256') && <CopyText value={text('sha256')!} label="Copy SHA-256" /> },
          ]}
        />
        <Content title="Content" value={record.content} type={undefined} />
      </>
    ),
    decision: () => (
      <MemberList
        members={[
          { name: 'Decision', value: text('decision_id') },
          { name: 'About', value: text('decision_subject') },
          { name: 'Outcome', value: <b>{text('decision_outcome')}</b> },
          { name: 'Why', value: <span style={{ whiteSpace: 'pre-wrap' }}>{text('decision_rationale')}</span> },
          { name: 'Decided as', value: text('decision_actor_role') },
        ]}
      />
    ),
    skill_definition: () => (
      <>
        <MemberList
          members={[
            { name: 'Name', value: text('name') },
            { name: 'Skill', value: text('skill_id') },
            { name: 'Version', value: text('skill_version') },
            { name: 'Owner', value: text('owner') },
            { name: 'What it does', value: text('description') },
          ]}
        />
        <Content title="Manifest" value={record.manifest} type={undefined} />
      </>
    ),
    telemetry_event: () => (
      <>
        <MemberList
          members={[
            { name: 'Outcome', value: <Outcome success={record.success} code={text('error_code')} /> },
            ...made,
            { name: 'Happened at', value: text('ts') && <TimeText iso={text('ts')!} /> },
            figure('Latency', 'latency_ms', formatMs),
            figure('Tokens in', 'tokens_in', formatCount),
            figure('Tokens out', 'tokens_out', formatCount),
            figure('Tokens reported', 'tokens_total_reported', formatCount),
            figure('Estimated cost', 'cost_usd_estimate', formatUsd),
            figure('Computed cost', 'cost_usd_computed', formatUsd),
            { name: 'Price from', value: text('price_source') },
          ]}
        />
        <Content title="Metadata" value={record.metadata} type={undefined} />
      </>
    ),
    governance_event: () => <GovernanceContent record={record} />,
  }
  return (
    <Stack gap="md" component="section" aria-label="What it says">
      {parts[record.record_type]?.() ?? <Content title="Content" value={record.content} type={undefined} />}
    </Stack>
  )
}

function GovernanceContent({ record: { event_kind, subject, details } }: { record: HubRecord }) {
  const { before, after, ...rest } =
    typeof details === 'object' && details !== null ? (details as Record<string, unknown>) : {}
  return (
    <>
      <MemberList
        members={[
          { name: 'Kind', value: typeof event_kind === 'string' ? event_kind : undefined },
          { name: 'About', value: <SubjectLink subject={typeof subject === 'string' ? subject : undefined} /> },
        ]}
      />
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
        {type && (
          <Badge variant="default" radius="sm" tt="none" fw={500}>
            {type}
          </Badge>
        )}
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
