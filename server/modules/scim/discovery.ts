import { pageSizeMax } from '../../../contract/limits.ts'
import type { JsonObject, JsonValue } from '../../../provenance/json.ts'
import { acceptedTypes } from '../../http/request-headers.ts'
import type { AttributeDefinition, ResourceDefinition, SchemaDefinition } from './schema-types.ts'
import { resourceDefinitions } from './scim-schemas.ts'

/** The members of responses that clients read in two ways. */
export interface Dialect {
  /** Returns `status` of an error: text (RFC 7644, section 3.12), or a number. */
  errorStatus(status: number): string | number
  /** Returns `name` of a resource type: `User` (RFC 7643, section 6), or `Users`. */
  resourceTypeName(name: string): string
}

const standard: Dialect = { errorStatus: String, resourceTypeName: (name) => name }

/**
 * The dialect of scim.dev: its verifier, and clients made with it, expect these two values as its own server writes
 * them.
 */
const plainJson: Dialect = { errorStatus: (status) => status, resourceTypeName: (name) => `${name}s` }

/** Returns the capabilities of this server (RFC 7643, section 5). */
export function serviceProviderConfig(base: string): JsonObject {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: pageSizeMax },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'The token that the Hub showed when SCIM was configured, as Authorization: Bearer (RFC 6750).',
        specUri: 'https://www.rfc-editor.org/rfc/rfc6750',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  }
}

/** Returns the resource types (RFC 7643, section 6). */
export function resourceTypes(base: string, dialect: Dialect): JsonObject[] {
  return resourceDefinitions.map((definition) => resourceType(base, definition, dialect))
}

function resourceType(
  base: string,
  { name, endpoint, description, schema, extensions }: ResourceDefinition,
  dialect: Dialect,
): JsonObject {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id: name,
    name: dialect.resourceTypeName(name),
    description,
    endpoint,
    schema: schema.id,
    schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })),
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
  }
}

/** Returns the schemas (RFC 7643, section 7). */
export function schemas(base: string): JsonObject[] {
  return resourceDefinitions.flatMap(({ schema, extensions }) =>
    [schema, ...extensions].map((each) => schemaOf(base, each)),
  )
}

function schemaOf(base: string, { id, name, description, attributes }: SchemaDefinition): JsonObject {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    id,
    name,
    description,
    attributes: attributes.map(attributeOf),
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${id}` },
  }
}

function attributeOf({ subAttributes, ...rest }: AttributeDefinition): JsonObject {
  const members = rest as unknown as Record<string, JsonValue>
  return { ...members, ...(subAttributes && { subAttributes: subAttributes.map(attributeOf) }) }
}

/**
 * Returns the dialect for an Accept header. Callers that accept `application/scim+json`, any type, or none get the
 * standard. Callers that accept `application/json` but not SCIM's own media type get plain JSON. See ADR 0037.
 */
export function dialectOf(accept: string | undefined): Dialect {
  const accepted = acceptedTypes(accept)
  return accepted.has('application/json') && !accepted.has('application/scim+json') ? plainJson : standard
}
