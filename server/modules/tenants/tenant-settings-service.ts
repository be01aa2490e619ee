import { type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import { isEmail } from '../../../contract/email-address.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import type { Database, TenantTx } from '../../db/database.ts'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import type { GovernanceLog } from '../governance/governance-types.ts'
import { detailsOf } from './tenant-response.ts'
import { lockSettings, ownEntry, type SettingsRow, setDetails, settings } from './tenants-store.ts'
import type { DetailsSent, TenantDetails, TenantSettings } from './tenants-types.ts'

export function createTenantSettings(deps: {
  database: Database
  governance: GovernanceLog
  /** Returns the common address. */
  baseUrl: () => string
}): TenantSettings {
  const { database, governance } = deps

  async function answer(tx: TenantTx): Promise<TenantDetails> {
    const [entry, kept] = [await ownEntry(tx), await settings(tx)]
    if (!entry || !kept) throw new Error(`tenant ${tx.tenantId} has no settings`)
    return detailsOf(entry, kept, deps.baseUrl())
  }

  return {
    get: ({ tenant }) => database.withTenant(tenant.slug, answer, { readOnly: true }),
    problemsIn,
    replace(caller, sent) {
      const problems = problemsIn(sent)
      if (problems.length > 0) throw validationFailed(problems)
      const { tenant } = caller
      return database.withTenant(tenant.slug, async (tx) => {
        const before = await lockSettings(tx)
        if (!before) throw new Error(`tenant ${tx.tenantId} has no settings`)
        requireKept(sent, await answer(tx))
        const { display_name: displayName = before.display_name } = sent
        const contactEmail = sent.contact_email === undefined ? before.contact_email : sent.contact_email
        const now = formatTimestamp(Date.now())
        const confirmedAt = before.confirmed_at ?? now
        const after = {
          ...before,
          display_name: displayName,
          contact_email: contactEmail,
          confirmed_at: confirmedAt,
        }
        if (!isSame(before, after)) {
          await setDetails(tx, { displayName, contactEmail, confirmedAt, now })
          await governance.append(tx, tenant, {
            kind: 'tenant.config_changed',
            subject: `tenant:${tenant.slug}`,
            details: {
              change: 'details',
              ...(before.contact_email !== contactEmail && { contact_email_changed: true }),
              before: eventDetails(before),
              after: eventDetails(after),
            },
            actor: caller,
          })
        }
        return answer(tx)
      })
    },
  }
}

function problemsIn({ contact_email: contact }: ValidParts<DetailsSent>): PointedError[] {
  if (contact === undefined || contact === null || isEmail(contact)) return []
  return [{ pointer: '/contact_email', detail: 'must be an e-mail address' }]
}

/** Throws `validation-failed` if a member that the caller may not change differs. */
function requireKept(sent: DetailsSent, kept: TenantDetails): void {
  const { display_name: _, contact_email: __, ...others } = sent
  const problems = Object.entries(others).flatMap(([name, value]): PointedError[] => {
    const there = kept[name as keyof typeof others]
    if (value === there) return []
    const detail =
      there === undefined
        ? 'is set by the service later; omit it'
        : 'differs from the stored value, which only the operator can change: omit it, or send the value of GET'
    return [{ pointer: `/${name}`, detail }]
  })
  if (problems.length > 0) throw validationFailed(problems)
}

function isSame(before: SettingsRow, after: SettingsRow): boolean {
  return (
    before.display_name === after.display_name &&
    before.contact_email === after.contact_email &&
    before.confirmed_at === after.confirmed_at
  )
}

/** Returns the details for events without addresses of people, which could not be erased from events. */
function eventDetails(row: SettingsRow) {
  return {
    display_name: row.display_name,
    has_contact_email: row.contact_email !== null,
    confirmed: row.confirmed_at !== null,
  }
}
