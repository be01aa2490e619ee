import { copyRows } from '../auth/restored-row-cases.ts'
import { type Attack, change, sql } from './attack-ways.ts'

/** Who may come in. */
export const attacksOnAccess: readonly Attack[] = [
  {
    name: 'Give somebody a role, scopes or a way to sign in',
    ways: {
      person: sql(
        ({ slug }) =>
          `insert into hub.users (tenant_id, user_id, email, email_key, role, epoch, created_at, updated_at)
           values ('${slug}', 'usr_forged', 'evil@acme.example', 'evil@acme.example', 'admin', 1, now(), now())`,
      ),
      link: sql(
        ({ slug }) =>
          `insert into hub.magic_links (tenant_id, token_hash, email, purpose, created_at, expires_at)
           values ('${slug}', sha256('evil'), 'admin@${slug}.example', 'welcome', now(), now() + interval '1 day')`,
      ),
      'scopes of an account': async (db, { tenant, slug }, _other, hub) => {
        const { serviceAccounts } = hub.modules.auth
        const account = { name: 'narrow', scopes: ['hub:read'] }
        const { client_id } = await serviceAccounts.create(tenant, account, { operator: 'test' })
        await change(
          db,
          `update hub.service_accounts set scopes = '{hub:read,hub:purge}' where tenant_id = '${slug}' and client_id = '${client_id}'`,
        )
      },
      'address of the first administrator': sql(
        ({ slug }) => `update hub.tenant_settings set admin_email = 'evil@acme.example' where tenant_id = '${slug}'`,
      ),
    },
    foundBy: ['sweep'],
  },
  {
    name: 'Set a person or an account back to what they could do before',
    ways: {
      account: async (db, { tenant }, _other, hub) => {
        const { serviceAccounts } = hub.modules.auth
        const actor = { operator: 'test' }
        const wide = { name: 'wide', scopes: ['hub:read', 'hub:purge'] }
        const { client_id } = await serviceAccounts.create(tenant, wide, actor)
        const { rows } = await db.query('select * from hub.service_accounts where client_id = $1', [client_id])
        await serviceAccounts.update(tenant, client_id, { scopes: ['hub:read'] }, actor)
        const { scopes, epoch, proof } = rows[0]
        const back = 'update hub.service_accounts set scopes = $2, epoch = $3, proof = $4 where client_id = $1'
        await db.query(back, [client_id, scopes, epoch, proof])
      },
    },
    foundBy: ['sweep'],
  },
  {
    name: 'Set back a directory, a provider, a secret or an address that was replaced or removed',
    ways: {
      'directory that was removed': async (db, { slug }, _other, hub) => {
        const path = '/api/v1/identity/scim/configure'
        await hub.call(slug, 'POST', path, { body: { mode: 'push' } })
        const setBack = await copyRows(db, ['hub.scim_configurations'], slug)
        await hub.call(slug, 'DELETE', path)
        await setBack()
      },
      'address of the first administrator': async (db, { slug }, _other, hub) => {
        const setBack = await copyRows(db, ['hub.tenant_settings'], slug)
        await hub.modules.tenants.operated.update(slug, { admin_email: 'new@acme.example' }, { operator: 'test' })
        await setBack()
      },
      'secret of an account': async (db, { tenant, slug }, _other, hub) => {
        const { serviceAccounts } = hub.modules.auth
        const actor = { operator: 'test' }
        const { client_id } = await serviceAccounts.create(tenant, { name: 'rotated', scopes: ['hub:read'] }, actor)
        const tables = ['hub.service_accounts', 'hub.service_account_secrets']
        const setBack = await copyRows(db, tables, slug)
        await serviceAccounts.rotate(tenant, client_id, actor)
        await setBack()
      },
    },
    foundBy: ['sweep'],
  },
]
