import { type RecordType, recordTypes } from '../../../contract/literals.ts'
import type { RecordFilter } from '../../../contract/record-filter.ts'
import { describeRecordFilter } from '../../components/record-filter.ts'
import { recordTypeLooks } from '../../components/record-type.tsx'
import { capitalised } from '../../ui/capitalised.ts'
import { formatBytes, formatCount, formatUsd } from '../../ui/formats.ts'
import { isObject } from '../../ui/is-object.ts'
import { formats } from '../exports/export-job.ts'
import { formatMetric, groupLabels, metricLabels } from '../webhooks/alert-labels.ts'
import { describeChange, describeDetail, describeList, describeName } from './detail-labels.ts'
import { meaningOf } from './failed-checks.ts'
import { detail, type GovernanceEvent } from './governance-event.ts'

type Words = (event: GovernanceEvent) => (string | undefined | false)[]

/** Labels for configuration changes whose names do not state the change. */
const changes = new Map([
  ['archetypes', 'Archetypes replaced'],
  ['cmek', 'Encryption key changed'],
  ['cowork', 'Pack stored'],
  ['created', 'Tenant created'],
  ['details', 'Details changed'],
  ['grants', 'Grants changed'],
  ['provision', 'Provisioned again'],
  ['sso', 'Single sign-on configured'],
  ['sso_removed', 'Single sign-on removed'],
  ['scim', 'Directory configured'],
  ['scim_removed', 'Directory removed'],
  ['welcome_link', 'Welcome link made'],
  ['user_invited', 'User invited'],
])
const endsInVerb = /_(added|removed|tested|created|rotated|linked|disabled|changed|redelivered|kept|deactivated)$/
const methods = new Map([
  ['oidc', 'Through the company'],
  ['magic_link', 'By a link'],
  ['welcome_link', 'By a welcome link'],
  ['mock', 'By the login for development'],
])

function changeOf(event: GovernanceEvent): string | undefined {
  const change = detail(event, 'change')
  if (change === undefined) return undefined
  const known = changes.get(change)
  if (known) return known
  return capitalised(describeName(endsInVerb.test(change) ? change : `${change} changed`))
}

function typeOf(event: GovernanceEvent): string | undefined {
  const type = detail(event, 'record_type') as RecordType | undefined
  return type && recordTypes.includes(type) ? recordTypeLooks[type].label : undefined
}

const number = (event: GovernanceEvent, member: string) => {
  const value = event.details[member]
  return typeof value === 'number' ? value : undefined
}
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])
const quoted = (text: string | undefined) => text && `“${text}”`

/** Returns the records that a hold or an export covers. */
function scope(event: GovernanceEvent): string | undefined {
  const { filter } = event.details
  if (isObject(filter)) return describeRecordFilter(filter as RecordFilter)
  const count = number(event, 'record_count')
  return count === undefined ? undefined : `${formatCount(count)} ${count === 1 ? 'record' : 'records'}`
}

function grants(event: GovernanceEvent, member: 'granted' | 'revoked'): string | undefined {
  const { [member]: given } = event.details
  const pairs = Array.isArray(given) ? given.filter(isObject) : []
  const count = number(event, `${member}_count`) ?? pairs.length
  if (count === 0) return undefined
  const verb = member === 'granted' ? 'Granted' : 'Revoked'
  const from = member === 'granted' ? 'to' : 'from'
  const skills = [...new Set(pairs.map(({ skill_id }) => String(skill_id)))]
  const archetypes = [...new Set(pairs.map(({ archetype_id }) => String(archetype_id)))]
  if (count > pairs.length || (skills.length > 1 && archetypes.length > 1)) {
    return `${verb} ${formatCount(count)} skills ${from} archetypes`
  }
  return `${verb} ${describeList(skills)} ${from} ${describeList(archetypes)}`
}

const exported: Words = (event) => [
  formats.find(({ value }) => value === event.details.format)?.label,
  scope(event),
  event.details.verify === true && 'verified',
]
const synced: Words = (event) => [
  ['added', 'updated', 'deactivated', 'unmatched', 'skipped']
    .flatMap((member) => (number(event, member) ? [`${formatCount(number(event, member))} ${member}`] : []))
    .join(', ') || 'Nothing changed',
  detail(event, 'reason'),
]
/** Returns what an alert is about: `Skill “contract-review” · Error rate 31%, above 20% · over 60 minutes` */
const alertWords: Words = (event) => {
  const metric = detail(event, 'metric') as keyof typeof metricLabels
  const group = groupLabels[detail(event, 'group_by') as keyof typeof groupLabels]
  const [value, threshold] = [number(event, 'value') ?? 0, number(event, 'threshold') ?? 0]
  return [
    [group, quoted(detail(event, 'key'))].filter(Boolean).join(' '),
    `${metricLabels[metric]} ${formatMetric(metric, value)}, above ${formatMetric(metric, threshold)}`,
    `over ${number(event, 'window_minutes')} minutes`,
    event.details.limit_reached === true && 'limit of events reached: further alerts may have none',
  ]
}
const gone: Words = (event) => [typeOf(event), detail(event, 'reason')]

/** Texts by kind, for events that the Hub writes, whose details are known. */
const kinds = new Map<string, Words>([
  ['alert.opened', alertWords],
  ['auth.login', (event) => [methods.get(detail(event, 'method') ?? '') ?? detail(event, 'method')]],
  ['auth.logout', ({ details }) => [details.everywhere === true ? 'Everywhere' : 'In one browser']],
  [
    'auth.client_authorized',
    (event) => [
      quoted(detail(event, 'client_name')),
      detail(event, 'redirect_host'),
      describeList(texts(event.details.scopes)),
    ],
  ],
  [
    'auth.client_revoked',
    (event) => [
      quoted(detail(event, 'client_name')),
      detail(event, 'reason') === 'code_reused' && 'Its code was used twice',
    ],
  ],
  [
    'budget.threshold_reached',
    (event) => [
      quoted(detail(event, 'name')),
      `${number(event, 'threshold')}% of ${formatUsd(number(event, 'amount_usd'))} reached`,
      `spent ${formatUsd(number(event, 'spent_usd'))}`,
    ],
  ],
  ['hub.export_created', exported],
  ['hub.export_cancelled', exported],
  ['connector.added', (event) => [quoted(detail(event, 'display_name')), detail(event, 'platform')]],
  [
    'hub.export_downloaded',
    (event) => [
      detail(event, 'file'),
      number(event, 'bytes') !== undefined && formatBytes(number(event, 'bytes') ?? 0),
    ],
  ],
  ['hub.export_failed', (event) => [detail(event, 'reason')]],
  ['hub.legal_hold_applied', (event) => [quoted(detail(event, 'name')), scope(event), detail(event, 'reason')]],
  ['hub.legal_hold_released', (event) => [quoted(detail(event, 'name')), detail(event, 'reason')]],
  ['hub.record_purged', gone],
  ['hub.record_hard_deleted', gone],
  ['hub.record_restored', (event) => [typeOf(event)]],
  [
    'hub.tamper_detected',
    ({ details }) => {
      const [first, ...more] = texts(details.failed_checks)
      return [first && meaningOf(first), more.length > 0 && `and ${formatCount(more.length)} more`]
    },
  ],
  [
    'rbac.archetype_assigned',
    (event) => [
      `Now ${describeList(texts(event.details.after))}`,
      `before ${describeList(texts(event.details.before))}`,
      detail(event, 'source') && `by ${detail(event, 'source')}`,
    ],
  ],
  ['roster.scim_sync_completed', synced],
  ['roster.scim_sync_confirmed', synced],
  ['roster.scim_sync_cancelled', synced],
  ['roster.scim_sync_failed', (event) => [detail(event, 'reason')]],
  [
    'skill.entitlement_changed',
    (event) => {
      const given = [grants(event, 'granted'), grants(event, 'revoked')]
      const versions = texts(event.details.versions)
      if (given.some(Boolean)) return given
      if (versions.length === 0) return [changeOf(event), describeChange(event.details.before, event.details.after)]
      return [`${versions.length === 1 ? 'Version' : 'Versions'} ${describeList(versions)}`, become(event)]
    },
  ],
])

/** Returns the previous and the new state: `published, before draft` */
function become({ details: { before, after } }: GovernanceEvent): string | undefined {
  if (!isObject(after)) return undefined
  return [String(after.state), isObject(before) && `before ${String(before.state)}`].filter(Boolean).join(', ')
}

/** The text for any other event: the change, its reason, and the other details. */
const usual: Words = (event) => {
  const { change: _change, reason, before, after, ...rest } = event.details
  const changed = describeChange(before, after)
  return [
    changeOf(event),
    typeof reason === 'string' && describeName(reason),
    changed,
    !changed && describeDetail(rest),
  ]
}

const lengthMax = 300

/** Returns an event as one line of text: `Pack stored · archetype ids support-agent, 2 skills`. */
export function describeEvent(event: GovernanceEvent): string {
  try {
    const words = (kinds.get(event.event_kind) ?? usual)(event).filter(Boolean).join(' · ')
    return words.length > lengthMax ? `${words.slice(0, lengthMax)} …` : words
  } catch {
    // An event edited in the database may contain anything; the details show it unchanged.
    return 'It cannot be said in words'
  }
}
