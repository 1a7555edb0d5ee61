/* What a user without privilege does in the tests of `make attack`, where a shell cannot do it. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/net_tstamp.h>
#include <linux/ppp-ioctl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int failed(const char *what)
{
	perror(what);
	exit(1);
}

static int towards(const char *address)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
	int sender = socket(AF_INET, SOCK_DGRAM, 0);

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1 || connect(sender, (void *)&to, sizeof to))
		failed(address);
	return sender;
}

static void set(int socket, int level, int option, int value)
{
	if (setsockopt(socket, level, option, &value, sizeof value))
		failed("setsockopt");
}

/* Sends datagrams and prints the time stamps that come back with their status; with `segment`, as large packets that
 * are cut into pieces below. */
static int marks(const char *address, int count, int segment)
{
	char payload[8000] = { 0 }, space[512];
	int sender = towards(address);

	set(sender, SOL_SOCKET, SO_WIFI_STATUS, 1);
	set(sender, SOL_SOCKET, SO_TIMESTAMPNS, 1);
	if (segment)
		set(sender, IPPROTO_UDP, 103 /* UDP_SEGMENT */, segment);
	for (int i = 0; i < count; i++) {
		struct pollfd status = { .fd = sender };

		/* Nobody listens there, which the kernel may say instead of sending: once more. */
		if (send(sender, payload, segment ? sizeof payload : 200, 0) < 0 && errno != ECONNREFUSED)
			failed("send");
		poll(&status, 1, 300);
		for (;;) {
			struct iovec part = { payload, sizeof payload };
			struct msghdr message = {
				.msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space
			};

			if (recvmsg(sender, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
				break;
			for (struct cmsghdr *one = CMSG_FIRSTHDR(&message); one; one = CMSG_NXTHDR(&message, one)) {
				struct timespec time;

				if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_TIMESTAMPNS)
					continue;
				memcpy(&time, CMSG_DATA(one), sizeof time);
				printf("%llx\n", time.tv_sec * 1000000000ull + time.tv_nsec);
			}
		}
	}
	return 0;
}

/* Sends a packet for each number of the standard input, with that departure time. */
static int depart_at(const char *address)
{
	struct sock_txtime clock = { .clockid = CLOCK_MONOTONIC };
	int sender = towards(address);
	unsigned long long time;
	char payload[100] = { 0 };

	if (setsockopt(sender, SOL_SOCKET, SO_TXTIME, &clock, sizeof clock))
		failed("SO_TXTIME");
	while (scanf("%llx", &time) == 1) {
		char space[CMSG_SPACE(sizeof time)] = { 0 };
		struct iovec part = { payload, sizeof payload };
		struct msghdr message = {
			.msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space
		};
		struct cmsghdr *one = CMSG_FIRSTHDR(&message);

		one->cmsg_level = SOL_SOCKET;
		one->cmsg_type = SCM_TXTIME;
		one->cmsg_len = CMSG_LEN(sizeof time);
		memcpy(CMSG_DATA(one), &time, sizeof time);
		if (sendmsg(sender, &message, 0) < 0 && errno != ECONNREFUSED)
			failed("sendmsg");
	}
	return 0;
}

/* Makes an interface of PPP with nothing behind it, and keeps it; as root. */
static int ppp(void)
{
	struct npioctl pass[] = { { PPP_IP, NPMODE_PASS }, { PPP_IPV6, NPMODE_PASS } };
	int unit = -1, file = open("/dev/ppp", O_RDWR);

	if (file < 0 || ioctl(file, PPPIOCNEWUNIT, &unit))
		failed("/dev/ppp");
	for (int i = 0; i < 2; i++)
		if (ioctl(file, PPPIOCSNPMODE, &pass[i]))
			failed("PPPIOCSNPMODE");
	printf("ppp%d\n", unit);
	fflush(stdout);
	pause();
	return 0;
}

int main(int count, char **words)
{
	if (count == 5 && !strcmp(words[1], "marks"))
		return marks(words[2], atoi(words[3]), atoi(words[4]));
	if (count == 3 && !strcmp(words[1], "depart-at"))
		return depart_at(words[2]);
	if (count == 2 && !strcmp(words[1], "ppp"))
		return ppp();
	fprintf(stderr, "attacker marks ADDRESS COUNT SEGMENT | depart-at ADDRESS | ppp\n");
	return 2;
}
