"""Makes what the demo's tests look at: two people of the sample video, cut out large, as a camera.

    python make_camera.py SAMPLE.avi OUT.y4m OUT.webm

640x480, 30 frames a second, played to and fro so that it loops without a cut. The .y4m is for
Chromium's --use-file-for-fake-video-capture, the .webm the same as a file.
"""

import sys

import cv2

FRAMES = range(540, 563)  # two people walk towards the camera
LEFT, TOP, WIDTH, HEIGHT = 140, 380, 160, 120
SIZE = (640, 480)


def cut_out(sample):
    video = cv2.VideoCapture(sample)
    video.set(cv2.CAP_PROP_POS_FRAMES, FRAMES.start)
    pictures = []
    for _ in FRAMES:
        read, frame = video.read()
        if not read:
            raise SystemExit(f"make_camera: '{sample}': ends before frame {FRAMES.stop}; "
                             "give the sample video that scripts/setup fetched")
        part = frame[TOP:TOP + HEIGHT, LEFT:LEFT + WIDTH]
        pictures.append(cv2.resize(part, SIZE, interpolation=cv2.INTER_CUBIC))
    return pictures + pictures[-2:0:-1]


def main(sample, y4m, webm):
    pictures = cut_out(sample)
    with open(y4m, "wb") as file:
        file.write(b"YUV4MPEG2 W%d H%d F30:1 Ip A1:1 C420\n" % SIZE)
        for picture in pictures:
            file.write(b"FRAME\n" + cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420).tobytes())
    writer = cv2.VideoWriter(webm, cv2.VideoWriter_fourcc(*"VP80"), 30, SIZE)
    if not writer.isOpened():
        raise SystemExit(f"make_camera: '{webm}': this OpenCV encodes no VP8; use the one of "
                         "tools/requirements-test.txt")
    for picture in pictures:
        writer.write(picture)
    writer.release()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
