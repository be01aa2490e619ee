import { Button } from '@mantine/core'
import { IconBookmark } from '@tabler/icons-react'

/** How wide the button of saved views is: where it will say a name, it has the room for it from the beginning. */
export const viewsWidth = (viewId: string | undefined) => (viewId === undefined ? undefined : '14rem')

/** Holds the place of saved views while their script is on its way. */
export function ViewsSkeleton({ viewId }: { viewId: string | undefined }) {
  return (
    <Button variant="default" disabled leftSection={<IconBookmark size={16} />} w={viewsWidth(viewId)}>
      Views
    </Button>
  )
}
