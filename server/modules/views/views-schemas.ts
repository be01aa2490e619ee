import { Type } from 'typebox'
import { viewNameLengthMax, viewQueryLengthMax } from '../../../contract/limits.ts'
import { object } from '../../../contract/object-schema.ts'
import { PageQuery } from '../../../contract/request-schemas.ts'
import { NextCursor } from '../../../contract/response-schemas.ts'
import { viewPages } from '../../../contract/saved-views.ts'

const time = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-07-01T09:30:00.000000Z'] })

const ViewId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Id of the view',
  examples: ['view_7Kd2mQx9RtVb4LhZs8WcNp3F'],
})
const Page = Type.Enum(viewPages, { description: 'Page of the web UI', examples: ['command-center'] })
const Name = Type.String({
  minLength: 1,
  maxLength: viewNameLengthMax,
  pattern: '^[^\\s\\p{C}]([^\\p{C}]*[^\\s\\p{C}])?$',
  'x-must-be': `1 to ${viewNameLengthMax} characters without line breaks, or spaces at its ends`,
  description: 'Name of the view, unique per owner and page',
  examples: ['Contract skills, last 30 days'],
})
const Query = Type.String({
  maxLength: viewQueryLengthMax,
  pattern: '^[!-~]*$',
  'x-must-be': 'visible ASCII characters, all others percent-encoded',
  description: 'State of the page as the query of its address, without the question mark; can be empty',
  examples: ['range=30d&group_by=skill&skill_id=contract-review'],
})
const Shared = Type.Boolean({ description: 'Whether everyone in the tenant can see it', examples: [false] })

export const ViewParams = object({ view_id: ViewId })

export const ViewsQuery = object({
  ...PageQuery.properties,
  page: Type.Optional(Type.Enum(viewPages, { description: 'Only views of this page' })),
})

export const NewViewBody = object({
  page: Page,
  name: Name,
  query: Query,
  shared: Type.Optional({ ...Shared, default: false }),
})

export const ViewChangesBody = object({
  name: Type.Optional(Name),
  query: Type.Optional(Query),
  shared: Type.Optional(Shared),
})

export const ViewSchema = object({
  view_id: ViewId,
  page: Page,
  name: Name,
  query: Query,
  shared: Shared,
  own: Type.Boolean({
    description: 'True for your own view. The owner of another view is not disclosed',
    examples: [true],
  }),
  created_at: time('Time of creation'),
  updated_at: time('Time of the last change'),
})

export const ViewList = object({ items: Type.Array(ViewSchema), next_cursor: NextCursor })

export const viewLocation = { location: Type.String({ description: 'Path of the view' }) }
