import { Badge, Button, Group, Menu, Text } from '@mantine/core'
import { IconBookmark, IconCheck, IconDeviceFloppy, IconPencil, IconTrash, IconUsers } from '@tabler/icons-react'
import { useState } from 'react'
import type { ViewPage } from '../../contract/saved-views.ts'
import { type ApiResponse, api, type Body, hub } from '../api/api-client.ts'
import { useMe } from '../api/me.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { toastProblem } from './toast.ts'
import { useAction } from './use-action.ts'
import { ViewDialog } from './view-dialog.tsx'
import { sameView } from './view-query.ts'
import { viewsWidth } from './views-skeleton.tsx'

export type SavedView = ApiResponse<'listViews'>['items'][number]

const savedMessage = ({ name }: SavedView) => `“${name}” is saved.`

interface SavedViewsProps {
  page: ViewPage
  /** The current state of the page: the query of its address. Its parameter `view` is ignored. */
  query: string
  /** The view that the address names. */
  viewId: string | undefined
  /**
   * Shows the state of a view; `undefined` if the selected one was removed, and the page must drop it from its address.
   */
  onChoose(view: SavedView | undefined): void
}

/** Shows the saved states of a page: the user's own, and those shared with the tenant. */
export function SavedViews({ page, query, viewId, onChoose }: SavedViewsProps) {
  const me = useMe()
  const [asked, setAsked] = useState<'save' | 'change' | 'remove'>()
  const views = api.useQuery('get', '/api/v1/views', { params: { query: { page, limit: 1000 } } })

  const all = views.data?.items ?? []
  const chosen = all.find(({ view_id }) => view_id === viewId)
  const isChanged = chosen !== undefined && !sameView(chosen.query, query)
  const mayChange = chosen && (chosen.own || me.role === 'admin')
  const params = { path: { view_id: chosen?.view_id ?? '' } }
  const update = useAction({
    send: (body: Body<'updateView'>) => hub.PATCH('/api/v1/views/{view_id}', { params, body }),
    done: savedMessage,
    refresh: ['/api/v1/views'],
    onError: (error) => toastProblem(error, 'The view was not saved'),
  })

  const group = (label: string, items: SavedView[]) =>
    items.length > 0 && (
      <>
        <Menu.Label>{label}</Menu.Label>
        {items.map((view) => (
          <Menu.Item
            key={view.view_id}
            onClick={() => onChoose(view)}
            leftSection={
              view.view_id === viewId ? <IconCheck size={16} aria-label="Chosen" /> : <IconBookmark size={16} />
            }
            rightSection={view.own && view.shared && <IconUsers size={14} aria-label="shared" />}
          >
            <Text size="sm" truncate>
              {view.name}
            </Text>
          </Menu.Item>
        ))}
      </>
    )

  return (
    <>
      <Menu withinPortal={false} position="bottom-end" width={280}>
        <Menu.Target>
          <Button variant="default" leftSection={<IconBookmark size={16} />} w={viewsWidth(viewId)}>
            <Group gap={6} wrap="nowrap" component="span">
              <Text span truncate inherit>
                {chosen?.name ?? 'Views'}
              </Text>
              {isChanged && (
                <Badge component="span" size="sm" variant="light" color="gray">
                  Changed
                </Badge>
              )}
            </Group>
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah="min(28rem, 80dvh)" style={{ overflowY: 'auto' }}>
          {views.error && <Menu.Label>Could not load views.</Menu.Label>}
          {views.data && all.length === 0 && <Menu.Label>No view is saved yet.</Menu.Label>}
          {group(
            'Yours',
            all.filter(({ own }) => own),
          )}
          {group(
            'Shared by others',
            all.filter(({ own }) => !own),
          )}
          <Menu.Divider />
          {isChanged && mayChange && (
            <Menu.Item leftSection={<IconDeviceFloppy size={16} />} onClick={() => update.mutate({ query })}>
              Update “{chosen.name}”
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconDeviceFloppy size={16} />} onClick={() => setAsked('save')}>
            Save as a new view …
          </Menu.Item>
          {mayChange && (
            <>
              <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => setAsked('change')}>
                Rename or share …
              </Menu.Item>
              <Menu.Item color="red" leftSection={<IconTrash size={16} />} onClick={() => setAsked('remove')}>
                Delete …
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <ViewDialog
        opened={asked === 'save'}
        onClose={() => setAsked(undefined)}
        title="Save this view"
        about="Filters, range and order as they are now. Relative ranges stay relative."
        send={(body) => hub.POST('/api/v1/views', { body: { page, query, ...body } })}
        done={({ name }) => `Saved as “${name}”.`}
        onDone={onChoose}
      />
      <ViewDialog
        opened={asked === 'change'}
        onClose={() => setAsked(undefined)}
        title="Rename or share the view"
        {...(chosen && { view: chosen })}
        send={(body) => hub.PATCH('/api/v1/views/{view_id}', { params, body })}
        done={savedMessage}
      />
      <ConfirmDialog
        opened={asked === 'remove'}
        onClose={() => setAsked(undefined)}
        title={`Delete “${chosen?.name}”?`}
        confirmLabel="Delete"
        danger
        failed="The view was not deleted"
        send={() => hub.DELETE('/api/v1/views/{view_id}', { params })}
        done="The view is deleted."
        refresh={['/api/v1/views']}
        onDone={() => onChoose(undefined)}
      >
        <Text size="sm">
          {chosen?.shared ? 'It goes for everybody of the tenant. ' : ''}The records it shows stay. It cannot be taken
          back, but the same filters can be saved again.
        </Text>
      </ConfirmDialog>
    </>
  )
}
