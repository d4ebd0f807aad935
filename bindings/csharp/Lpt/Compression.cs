using System;
using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Lpt
{
    /// <summary>A caller-supplied codec for the messages of reductions, the same on all ranks. Threads of a context call it at the
    /// same time. If it throws, the reduction fails with Aborted and the exception as InnerException.</summary>
    public abstract unsafe class Compression
    {
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate long BytesForFunction(IntPtr user, long count);

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate int EncodeFunction(IntPtr user, IntPtr numbers, long count, IntPtr bytes);

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate int DecodeFunction(IntPtr user, IntPtr bytes, long count, IntPtr numbers);

        // The first result for a count is kept, because it determines the sizes of arrays.
        private readonly ConcurrentDictionary<long, long> sizes = new ConcurrentDictionary<long, long>();
        private readonly BytesForFunction bytesFor;
        private readonly EncodeFunction encode;
        private readonly DecodeFunction decode;
        private Exception thrown;

        /// <summary>Creates a codec with a name of 1 to 12 bytes of ASCII.</summary>
        protected Compression(string name)
        {
            if (name.Length < 1 || name.Length > 12 || Encoding.UTF8.GetByteCount(name) != name.Length || name.IndexOf('\0') >= 0)
                throw new LptException(Status.InvalidArgument, "name is \"" + name + "\": expected 1 to 12 bytes of ASCII");
            Name = name;
            bytesFor = (user, count) => Guarded(() => sizes.GetOrAdd(count, BytesFor));
            encode = (user, numbers, count, bytes) => (int)Guarded(() => EncodeAt(numbers, checked((int)count), bytes));
            decode = (user, bytes, count, numbers) => (int)Guarded(() => DecodeAt(bytes, checked((int)count), numbers));
        }

        /// <summary>Name of the codec, which ranks compare.</summary>
        public string Name { get; private set; }

        /// <summary>Returns the number of bytes that encode `count` elements, the same on all ranks; called once for each
        /// count.</summary>
        protected abstract long BytesFor(long count);

        /// <summary>Encodes `numbers` and writes all of `bytes`.</summary>
        protected abstract void Encode(float[] numbers, byte[] bytes);

        /// <summary>Decodes `bytes` and writes all of `numbers`.</summary>
        protected abstract void Decode(byte[] bytes, float[] numbers);

        private long EncodeAt(IntPtr numbersAt, int count, IntPtr bytesAt)
        {
            var numbers = new float[count];
            var bytes = new byte[sizes[count]];
            Marshal.Copy(numbersAt, numbers, 0, count);
            Encode(numbers, bytes);
            if (bytes.Length > 0) Marshal.Copy(bytes, 0, bytesAt, bytes.Length);
            return 0;
        }

        private long DecodeAt(IntPtr bytesAt, int count, IntPtr numbersAt)
        {
            var numbers = new float[count];
            var bytes = new byte[sizes[count]];
            if (bytes.Length > 0) Marshal.Copy(bytesAt, bytes, 0, bytes.Length);
            Decode(bytes, numbers);
            Marshal.Copy(numbers, 0, numbersAt, count);
            return 0;
        }

        private long Guarded(Func<long> call)
        {
            try
            {
                return call();
            }
            catch (Exception problem)
            {
                Interlocked.CompareExchange(ref thrown, problem, null);
                return -1;
            }
        }

        /// <summary>Returns the C struct, which is valid as long as this object.</summary>
        internal CommCodec ToNative()
        {
            var codec = CommCodec.Default();
            for (var i = 0; i < Name.Length; ++i) codec.Name[i] = (byte)Name[i];
            codec.BytesFor = Marshal.GetFunctionPointerForDelegate(bytesFor);
            codec.Encode = Marshal.GetFunctionPointerForDelegate(encode);
            codec.Decode = Marshal.GetFunctionPointerForDelegate(decode);
            return codec;
        }

        /// <summary>Returns the exception of the last reduction, and clears it.</summary>
        internal Exception TakeThrown() { return Interlocked.Exchange(ref thrown, null); }
    }
}
