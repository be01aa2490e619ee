import { Button } from '@mantine/core'
import { IconCertificate } from '@tabler/icons-react'
import { hub } from '../../api/api-client.ts'
import { toastProblem } from '../../components/toast.ts'
import { useAction } from '../../components/use-action.ts'
import { saveFile } from '../../ui/save-file.ts'

/** Saves the proof bundle of a record as a file for `hub verify`. */
export function DownloadProof({ recordId }: { recordId: string }) {
  const name = `proof-${recordId}.json`
  const download = useAction({
    send: async () => {
      const params = { path: { record_id: recordId } }
      // As text: the file has the bytes of the response.
      const { data } = await hub.GET('/api/v1/hub/records/{record_id}/proof-bundle', { params, parseAs: 'text' })
      saveFile(name, new Blob([data!], { type: 'application/json' }))
    },
    done: `Saved ${name}. Check it anywhere with: hub verify ${name}`,
    onError: (error) => toastProblem(error, 'Could not download the proof'),
  })
  return (
    <Button
      size="xs"
      variant="default"
      loading={download.isPending}
      leftSection={<IconCertificate size={15} aria-hidden />}
      onClick={() => download.mutate()}
    >
      Download proof
    </Button>
  )
}
