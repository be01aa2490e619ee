import type { Answer } from '../support/hub.ts'

const connectors = '/api/v1/llm/connectors'
const config = 'tenant.config_changed'

/** Cases of governance-event-cases.ts: what changes skills, packs, grants and connectors. They follow one another. */
export function skillEventCases(
  call: (method: string, path: string, body?: unknown) => Promise<Answer>,
  secrets: string[],
) {
  const made = { connector: '' }
  return {
    transitionSkill: {
      run: async () => {
        await call('POST', '/api/v1/skill-entitlement/skills/s:transition', { state: 'published' })
        return 'skill:s'
      },
      kind: 'skill.entitlement_changed',
      change: 'state',
    },
    replaceCowork: {
      run: async () => {
        const skills = [{ skill_id: 'packed', skill_version: '1.0.0', name: 'a secret of the provider' }]
        await call('PUT', '/api/v1/skill-entitlement/coworks/pack', { name: 'Pack', skills, archetype_ids: ['a'] })
        return 'cowork:pack'
      },
      kind: config,
      change: 'cowork',
    },
    applyCowork: {
      run: async () => {
        await call('POST', '/api/v1/skill-entitlement/coworks/pack/apply')
        return 'cowork:pack'
      },
      kind: 'skill.entitlement_changed',
      change: 'cowork_applied',
    },
    replaceArchetypeGrants: {
      run: async () => {
        await call('PUT', '/api/v1/skill-entitlement/archetypes/a/grants', { skill_ids: ['s'] })
        return 'archetype:a'
      },
      kind: 'skill.entitlement_changed',
      change: 'grants',
      states: 'none',
    },
    checkEntitlements: { without: 'reads only' },
    createConnector: {
      run: async () => {
        const body = { platform: 'claude', display_name: 'Claude', delivery: 'pull' }
        const credentials = { api_key: 'a-secret-of-the-connector' }
        secrets.push(credentials.api_key)
        const added = (await call('POST', connectors, { ...body, credentials })).body
        secrets.push(added.inbound.secret)
        made.connector = added.connector_id
        return `connector:${made.connector}`
      },
      kind: 'connector.added',
      states: 'none',
    },
    updateConnector: {
      run: async () => {
        await call('PATCH', `${connectors}/${made.connector}`, { display_name: 'Claude, legal' })
        return `connector:${made.connector}`
      },
      kind: config,
      change: 'connector',
    },
    rotateConnectorCredentials: {
      run: async () => {
        secrets.push('another-secret-of-the-connector')
        const credentials = { bearer_token: 'another-secret-of-the-connector' }
        await call('POST', `${connectors}/${made.connector}:rotate-credentials`, { credentials })
        return `connector:${made.connector}`
      },
      kind: config,
      change: 'connector_credentials_rotated',
    },
    rotateConnectorInboundSecret: {
      run: async () => {
        const path = `${connectors}/${made.connector}:rotate-inbound-secret`
        secrets.push((await call('POST', path)).body.secret)
        return `connector:${made.connector}`
      },
      kind: config,
      change: 'connector_inbound_secret_rotated',
      states: 'after',
    },
    testConnector: { without: 'changes nothing, the health of the connector included' },
    removeConnector: {
      run: async () => {
        await call('DELETE', `${connectors}/${made.connector}`)
        return `connector:${made.connector}`
      },
      kind: config,
      change: 'connector_removed',
      states: 'both',
    },
    republishSkills: {
      run: async () => {
        const { body } = await call('POST', '/api/v1/skill-entitlement/distribution:republish')
        return `republish:${body.job_id}`
      },
      kind: 'skill.entitlement_changed',
      change: 'republished',
      states: 'none',
    },
  } as const
}
