import { type PointedError, validationFailed } from '../../../contract/domain-error.ts'
import { isEmail } from '../../../contract/email-address.ts'
import { formatTimestamp } from '../../../contract/timestamp.ts'
import { readTenant, type TenantTx } from '../../db/database.ts'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import type { Caller } from '../../http/caller.ts'
import type { Mailer } from '../../mail/mailer.ts'
import type { ModuleParts } from '../../module-parts.ts'
import { detailsOf } from './tenant-response.ts'
import { changeSettings, lockSettings, ownEntry, type SettingsRow, settings } from './tenants-store.ts'
import type { DetailsSent, TenantDetails } from './tenants-types.ts'

export type TenantSettings = ReturnType<typeof createTenantSettings>

/** Creates the service that reads and changes the details of a tenant for its administrators. */
export function createTenantSettings(
  deps: Pick<ModuleParts, 'database' | 'governance' | 'events'> & {
    /** Returns the common address. */
    baseUrl: () => string
    mailer: Pick<Mailer, 'hasServer'>
  },
) {
  const { database, governance, events } = deps

  async function answer(tx: TenantTx): Promise<TenantDetails> {
    const [entry, kept] = [await ownEntry(tx), await settings(tx)]
    if (!entry || !kept) throw new Error(`tenant ${tx.tenantId} has no settings`)
    return { ...detailsOf(entry, kept, deps.baseUrl()), mail_server: deps.mailer.hasServer }
  }

  return {
    get: ({ tenant }: Caller) => readTenant(database, tenant.slug, answer),
    /** Returns the problems of details, before the comparison with the stored ones. */
    problemsIn,
    /**
     * Confirms or changes the details. The first confirmation and every change write an event. Throws
     * `validation-failed` if a member that the caller may not change differs.
     */
    replace(caller: Caller, sent: DetailsSent): Promise<TenantDetails> {
      const problems = problemsIn(sent)
      if (problems.length > 0) throw validationFailed(problems)
      const { tenant } = caller
      return database.withTenant(tenant.slug, async (tx) => {
        const before = await lockSettings(tx)
        if (!before) throw new Error(`tenant ${tx.tenantId} has no settings`)
        requireKept(sent, await answer(tx))
        const { display_name = before.display_name, contact_email = before.contact_email } = sent
        const now = formatTimestamp(Date.now())
        const { search_language = before.search_language } = sent
        const confirmed_at = before.confirmed_at ?? now
        const values = { display_name, contact_email, search_language, confirmed_at }
        if (await changeSettings(tx, before, values, now)) {
          if (search_language !== before.search_language) {
            tx.afterCommit(() => events.publish('searchLanguageChanged', { tenantId: tx.tenantId }))
          }
          await governance.append(tx, tenant, {
            kind: 'tenant.config_changed',
            subject: `tenant:${tenant.slug}`,
            details: {
              change: 'details',
              ...(before.contact_email !== contact_email && { contact_email_changed: true }),
              before: eventDetails(before),
              after: eventDetails(values),
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
  // mail_server is of the Hub: it may have changed since the caller's GET.
  const { display_name: _, contact_email: __, search_language: ___, mail_server: ____, ...others } = sent
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

/** Returns the details for events without addresses of people, which could not be erased from events. */
function eventDetails(row: Pick<SettingsRow, 'display_name' | 'contact_email' | 'search_language' | 'confirmed_at'>) {
  return {
    display_name: row.display_name,
    has_contact_email: row.contact_email !== null,
    confirmed: row.confirmed_at !== null,
    search_language: row.search_language,
  }
}
