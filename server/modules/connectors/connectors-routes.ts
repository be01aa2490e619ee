import type { FastifyInstance } from 'fastify'
import { connectorsMax } from '../../../contract/limits.ts'
import { PageQuery } from '../../../contract/request-schemas.ts'
import { ConnectionTestResult } from '../../../contract/response-schemas.ts'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import { addRoute, emptyBody } from '../../http/route.ts'
import type { ConnectorTester } from '../distribution/distribution-types.ts'
import {
  ConnectorBody,
  ConnectorChangesBody,
  ConnectorList,
  ConnectorParams,
  ConnectorSchema,
  CredentialsOnlyBody,
  connectorLocation,
  RemovedSchema,
  RotatedSecretSchema,
} from './connectors-schemas.ts'
import type { ConnectorAdministration } from './connectors-service.ts'
import type { ConnectorSettings } from './connectors-types.ts'

export function addConnectorRoutes(app: FastifyInstance, connectors: ConnectorAdministration): void {
  addRoute(
    app,
    'createConnector',
    {
      description: `With \`push\` the signed skill manifest is sent to \`publish_url\` at once and then at least every 30 seconds; with \`pull\` the connector fetches it from \`manifest_url\`. If a connector with the same platform and display name exists, it is replaced, and keeps its credentials if the body has none. A tenant has at most ${connectorsMax} connectors. A new connector has a secret for messages from the platform, in \`inbound\`, which is returned only here.`,
      body: ConnectorBody,
      checkBody: (sound: ValidParts<ConnectorSettings>, { body }) =>
        connectors.furtherProblems(sound, body as ValidParts<ConnectorSettings>),
      response: { 201: ConnectorSchema },
      responseHeaders: { 201: connectorLocation },
      problems: ['hub-unavailable'],
    },
    async (request, reply) => {
      const connector = await connectors.create(request.caller, request.body)
      reply.code(201).header('location', `/api/v1/llm/connectors/${connector.connector_id}`)
      return connector
    },
  )

  addRoute(
    app,
    'listConnectors',
    {
      description: 'The oldest first.',
      querystring: PageQuery,
      response: { 200: ConnectorList },
      problems: ['invalid-cursor'],
    },
    async (request) => connectors.list(request.caller.tenant, request.query),
  )

  addRoute(
    app,
    'getConnector',
    {
      description: 'Returns its health, and the names of its credentials.',
      params: ConnectorParams,
      response: { 200: ConnectorSchema },
    },
    async (request) => connectors.get(request.caller.tenant, request.params.connector_id),
  )

  addRoute(
    app,
    'updateConnector',
    {
      description:
        'Absent members stay unchanged. Credentials are sent only to the origin for which they were given: a ' +
        '`publish_url` of another origin requires `credentials`.',
      params: ConnectorParams,
      body: ConnectorChangesBody,
      response: { 200: ConnectorSchema },
      problems: ['concurrent-modification', 'hub-unavailable'],
    },
    async (request) => connectors.update(request.caller, request.params.connector_id, request.body),
  )

  addRoute(
    app,
    'removeConnector',
    {
      description: 'Stops publishing and deletes the credentials. Repeating the request returns the same response.',
      params: ConnectorParams,
      response: { 200: RemovedSchema },
    },
    async (request) => connectors.remove(request.caller, request.params.connector_id),
  )
}

/** Adds the routes that replace secrets of a connector, or use them in a test. */
export function addConnectorSecretRoutes(
  app: FastifyInstance,
  connectors: ConnectorAdministration,
  tester: ConnectorTester,
): void {
  addRoute(
    app,
    'rotateConnectorCredentials',
    {
      description: 'Replaces all stored credentials. The new ones are used at once.',
      params: ConnectorParams,
      body: CredentialsOnlyBody,
      response: { 200: ConnectorSchema },
      problems: ['hub-unavailable'],
    },
    async (request) => connectors.rotate(request.caller, request.params.connector_id, request.body.credentials),
  )

  addRoute(
    app,
    'rotateConnectorInboundSecret',
    {
      description:
        'Creates the secret that signs messages of the platform. The previous one stays valid for 24 hours, and ' +
        'any older one ends at once. A connector without a secret gets its first.',
      params: ConnectorParams,
      body: emptyBody,
      bodyOptional: true,
      response: { 200: RotatedSecretSchema },
      problems: ['hub-unavailable'],
    },
    async (request) => connectors.rotateInboundSecret(request.caller, request.params.connector_id),
  )

  addRoute(
    app,
    'testConnector',
    {
      description: 'With `push` it sends the manifest like a publish. The health of the connector does not change.',
      params: ConnectorParams,
      body: emptyBody,
      bodyOptional: true,
      response: { 200: ConnectionTestResult },
    },
    async (request) => tester.test(request.caller.tenant, request.params.connector_id),
  )
}
