using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Lpt
{
    /// <summary>Elements in memory with a format, extents and parts.</summary>
    public sealed unsafe partial class Tensor
    {
        private static readonly Dictionary<Type, Format> formats = new Dictionary<Type, Format> {
            { typeof(double), Format.F64 }, { typeof(float), Format.F32 }, { typeof(long), Format.Int64 },
            { typeof(int), Format.Int32 }, { typeof(short), Format.Int16 },
            { typeof(sbyte), Format.Int8 }, { typeof(byte), Format.Uint8 },
        };

        /// <summary>Creates a tensor in memory of the library, with elements of 0 and scales of 1.</summary>
        public Tensor(Context context, Format format, params long[] extents) : base(Create(context, format, extents)) { }

        private static IntPtr Create(Context context, Format format, long[] extents)
        {
            IntPtr raw;
            fixed (long* first = extents) context.Check(Native.lpt_tensor_create(context, format, extents.Length, first, &raw));
            return raw;
        }

        /// <summary>Creates a matrix in the memory of an array, which stays pinned until the tensor is disposed.</summary>
        public static Tensor FromArray<T>(Context context, T[] numbers, long rows, long columns) where T : struct
        {
            Format format;
            if (!formats.TryGetValue(typeof(T), out format))
                throw new LptException(Status.Unsupported, "numbers has elements of type " + typeof(T).Name + ": expected a type with a format");
            if (rows < 0 || columns < 0 || (rows > 0 && columns > numbers.LongLength / rows))
            {
                throw new LptException(Status.InvalidArgument,
                    string.Format("numbers has {0} elements: expected {1} rows of {2}", numbers.LongLength, rows, columns));
            }
            var pin = GCHandle.Alloc(numbers, GCHandleType.Pinned);
            try
            {
                IntPtr raw;
                var data = (void*)pin.AddrOfPinnedObject();
                context.Check(Native.lpt_tensor_wrap_matrix(context, format, data, rows, columns, 0, &raw));
                var tensor = new Tensor(raw);
                tensor.Hold(pin);
                return tensor;
            }
            catch
            {
                pin.Free();
                throw;
            }
        }

#if NET7_0_OR_GREATER
        /// <summary>Creates a matrix in native memory, which must stay valid until the tensor is disposed.</summary>
        public static Tensor FromMemory(Context context, Format format, Span<byte> memory, long rows, long columns)
        {
            IntPtr raw;
            fixed (byte* data = memory) context.Check(Native.lpt_tensor_wrap_matrix(context, format, data, rows, columns, 0, &raw));
            var tensor = new Tensor(raw);
            var size = tensor.SizeBytes(context);
            if (size <= memory.Length) return tensor;
            tensor.Dispose();
            throw new LptException(Status.InvalidArgument, string.Format("memory has {0} bytes: expected {1}", memory.Length, size));
        }
#endif

        /// <summary>Returns a part of the tensor, which shares its memory and may outlive it.</summary>
        public Tensor Part(Context context, TensorPart part)
        {
            IntPtr raw;
            context.Check(Native.lpt_tensor_view_part(context, this, part, &raw));
            var tensor = new Tensor(raw);
            tensor.Keep(this);
            return tensor;
        }

        /// <summary>Returns the extents, one for each axis.</summary>
        public long[] Extents(Context context)
        {
            var description = Describe(context);
            var extents = new long[description.Rank];
            for (var axis = 0; axis < extents.Length; ++axis) extents[axis] = ((long*)description.Extents)[axis];
            GC.KeepAlive(this);
            return extents;
        }

        /// <summary>Returns the number of bytes of elements, scales and other parts, without gaps between rows.</summary>
        public long SizeBytes(Context context)
        {
            UIntPtr bytes;
            context.Check(Native.lpt_tensor_size(context, this, &bytes));
            return (long)bytes;
        }

        /// <summary>Returns a copy of the bytes of a dense tensor without scales, such as a part.</summary>
        public byte[] ToBytes(Context context)
        {
            var bytes = new byte[SizeBytes(context)];
            if (bytes.Length > 0) Marshal.Copy(DenseData(context), bytes, 0, bytes.Length);
            GC.KeepAlive(this);
            return bytes;
        }

        /// <summary>Writes all bytes of a dense tensor without scales.</summary>
        public void CopyFrom(Context context, byte[] bytes)
        {
            var size = SizeBytes(context);
            if (bytes.LongLength != size)
                throw new LptException(Status.InvalidArgument,
                                       string.Format("bytes has {0} elements: expected {1}", bytes.LongLength, size));
            if (size > 0) Marshal.Copy(bytes, 0, DenseData(context), bytes.Length);
            GC.KeepAlive(this);
        }

        private TensorDescription Describe(Context context)
        {
            var description = TensorDescription.Default();
            context.Check(Native.lpt_tensor_describe(context, this, &description));
            return description;
        }

        private IntPtr DenseData(Context context)
        {
            var description = Describe(context);
            if (description.Device != Device.Cpu)
                throw new LptException(Status.InvalidArgument,
                                       "tensor is on another device: expected the CPU, see Context.TensorCopy");
            long dense = 1;
            for (var axis = description.Rank - 1; axis >= 0; --axis)
            {
                var extent = ((long*)description.Extents)[axis];
                if (extent > 1 && ((long*)description.Strides)[axis] != dense)
                    throw new LptException(Status.InvalidArgument, "tensor has gaps: expected a dense one");
                dense *= extent;
            }
            return description.Data;
        }
    }

    /// <summary>Formats by name.</summary>
    public static unsafe class Formats
    {
        public static Format FromName(string name)
        {
            Format format;
            Status status;
            fixed (byte* text = Text.ToUtf8(name)) status = Native.lpt_format_from_name(Context.None, text, &format);
            if (status != Status.Ok) throw new LptException(status, "name is '" + name + "': expected a format");
            return format;
        }

        public static string NameOf(Format format)
        {
            var text = stackalloc byte[256];
            UIntPtr needed;
            var status = Native.lpt_format_write_name(Context.None, format, text, (UIntPtr)256, &needed);
            if (status != Status.Ok) throw new LptException(status, "format is " + (long)format + ": expected a format");
            return Text.Of(text);
        }
    }
}
